import BluetoothHost
import Foundation

/// An L2CAP channel, which carries a stream of data in each direction.
///
/// The application has to keep it: the channel is closed with its object. Its streams are not open yet; an application sets
/// their delegate, schedules them on a run loop and opens them, or opens them and reads and writes by itself.
open class CBL2CAPChannel: NSObject {
    private let device: CBPeer
    private let pipe: ChannelPipe
    private let input: ChannelInputStream
    private let output: ChannelOutputStream

    init(_ pipe: ChannelPipe, with peer: CBPeer) {
        device = peer
        self.pipe = pipe
        input = ChannelInputStream(pipe)
        output = ChannelOutputStream(pipe)
        super.init()
    }

    deinit { pipe.close() }

    /// The device at the other end: a `CBPeripheral` for who opened the channel, a `CBCentral` for who published it.
    open var peer: CBPeer! { device }
    /// The stream of received data.
    open var inputStream: InputStream! { input }
    /// The stream of data to send.
    open var outputStream: OutputStream! { output }
    /// The PSM of the channel.
    open var psm: CBL2CAPPSM { pipe.information.psm }
}
