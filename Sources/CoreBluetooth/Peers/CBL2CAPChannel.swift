import Foundation

/// An L2CAP channel, which carries a stream of data. None can be opened here yet.
open class CBL2CAPChannel: NSObject {
    /// The device at the other end.
    open var peer: CBPeer! { nil }
    /// The stream of received data.
    open var inputStream: InputStream! { nil }
    /// The stream of data to send.
    open var outputStream: OutputStream! { nil }
    /// The PSM of the channel.
    open var psm: CBL2CAPPSM { 0 }
}
