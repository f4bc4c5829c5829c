import BluetoothHost
import Foundation

/// An L2CAP channel, which carries a stream of data in each direction.
///
/// The application must hold the channel: it is closed when the object is deallocated. Its streams are not open yet. To
/// use them with events, set their delegates, schedule them on a run loop and open them. Otherwise open them, and read
/// and write with calls that wait.
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

    /// The device at the other end: a `CBPeripheral` if this application opened the channel, a `CBCentral` if it
    /// published the channel.
    open var peer: CBPeer! { device }
    /// The stream of received data.
    open var inputStream: InputStream! { input }
    /// The stream of data to send.
    open var outputStream: OutputStream! { output }
    /// The PSM of the channel.
    open var psm: CBL2CAPPSM { pipe.information.psm }
}
