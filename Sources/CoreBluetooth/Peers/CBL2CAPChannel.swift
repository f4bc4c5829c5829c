import Foundation

/// A channel for a stream of data beside the attributes. None can be opened here yet.
open class CBL2CAPChannel: NSObject {
    /// The device at the other end.
    open var peer: CBPeer! { nil }
    /// What the other end sends.
    open var inputStream: InputStream! { nil }
    /// What is to be sent.
    open var outputStream: OutputStream! { nil }
    /// The number by which the channel was asked for.
    open var psm: CBL2CAPPSM { 0 }
}
