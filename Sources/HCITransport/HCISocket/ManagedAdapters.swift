import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI

/// Queries which adapters the kernel's own host stack manages. An adapter that is up but not managed is held by a user
/// channel.
enum ManagedAdapters {
    /// The Read Extended Controller Index List command, for no adapter in particular, without parameters.
    static let request: [UInt8] = [0x3C, 0x00, 0xFF, 0xFF, 0x00, 0x00]

    /// Returns the numbers of the managed adapters, or nil if the kernel does not report them. Requires no privileges.
    ///
    /// The kernel answers while the request is being sent, so this does not block.
    static func indices(
        open: () throws(Errno) -> Int32 = { () throws(Errno) in try Socket.management().release() },
        calls: SocketCalls = .packet
    ) -> Set<UInt16>? {
        guard let descriptor = try? open() else { return nil }
        defer { calls.close(descriptor) }
        guard case .bytes(request.count) = Transfer({ request.withUnsafeBytes { calls.send(descriptor, $0) } })
        else { return nil }
        var buffer = [UInt8](repeating: 0, count: 1024)
        // The same socket also announces adapters that appear or disappear in the meantime.
        for _ in 0..<16 {
            guard
                case .bytes(let count) = Transfer({ buffer.withUnsafeMutableBytes { calls.receive(descriptor, $0) } }),
                count <= buffer.count
            else { return nil }
            if let indices = indices(decoding: buffer.span.extracting(0..<count)) { return indices }
        }
        return nil
    }

    /// Decodes the answer, a Command Complete event. It contains the request's code, a status of zero, and four octets
    /// per adapter, of which the first two are its number. Returns nil for any other packet.
    private static func indices(decoding bytes: Span<UInt8>) -> Set<UInt16>? {
        guard let packet = ManagementPacket(decoding: bytes), packet.code == ManagementPacket.Code.commandComplete
        else { return nil }
        let parameters = packet.parameters
        var reader = ByteReader(parameters.span)
        do throws(DecodingFailure) {
            guard try reader.readUInt16() == 0x003C, try reader.readUInt8() == 0 else { return nil }
            var indices: Set<UInt16> = []
            for _ in 0..<(try reader.readUInt16()) {
                indices.insert(try reader.readUInt16())
                // The adapter's type and bus.
                _ = try reader.readUInt16()
            }
            return indices
        } catch {
            return nil
        }
    }
}
