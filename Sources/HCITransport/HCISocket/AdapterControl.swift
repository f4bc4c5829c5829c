import BluetoothBase
import CBluetoothHCI

/// A socket for querying the kernel about adapters, which also translates the kernel's errors. It is closed when the
/// last reference is released.
final class AdapterControl: Sendable {
    /// The name of the transport in errors.
    let name: String
    let calls: AdapterCalls
    private let descriptor: Int32

    init(name: String, calls: AdapterCalls) throws(TransportError) {
        self.name = name
        self.calls = calls
        do throws(Errno) {
            descriptor = try calls.openControl()
        } catch {
            let reason = TransportError.Reason(openingAdapter: error, call: "socket", executable: calls.executable())
            throw TransportError(reason, transport: name)
        }
    }

    deinit { calls.close(descriptor) }

    /// Returns the adapters present, sorted by number.
    func list() throws(TransportError) -> [AdapterInformation] {
        let indices: [UInt16]
        do throws(Errno) {
            indices = try calls.indices(descriptor)
        } catch {
            throw failure(error, call: "HCIGETDEVLIST")
        }
        // An adapter may have been removed in the meantime.
        var adapters = indices.sorted().compactMap { try? calls.information(descriptor, $0) }
        let switches = calls.switches()
        let managed = calls.managedIndices()
        for position in adapters.indices {
            let adapter = adapters[position]
            adapters[position].block = switches.first { $0.name == adapter.name }?.block
            if let managed {
                adapters[position].state = state(of: adapter, isManaged: managed.contains(adapter.index))
            }
        }
        return adapters
    }

    /// Completes an adapter's state. The kernel's host stack manages neither adapters held by a user channel nor
    /// adapters being set up.
    private func state(of adapter: AdapterInformation, isManaged: Bool) -> AdapterInformation.State {
        switch (adapter.state, isManaged) {
        case (.initializing, true): .up
        case (.down, false): .initializing
        case (.up, false): .held(by: holder(of: adapter))
        case (let state, _): state
        }
    }

    /// The reason why no adapter is present.
    func absence() -> TransportError.Reason {
        let block = calls.switches().filter(\.isMachineWide).compactMap(\.block).first
        return block.map { .adapterBlocked($0) } ?? .noSuchAdapter(present: [])
    }

    /// Returns the current state of an adapter, or nil if it has been removed.
    func current(_ adapter: AdapterInformation) throws(TransportError) -> AdapterInformation? {
        // The number may belong to another adapter now.
        try list().first { $0.index == adapter.index && $0.address == adapter.address }
    }

    func holder(of adapter: AdapterInformation) -> AdapterHolder? {
        AdapterRecord.holder(of: adapter, in: calls.recordDirectories())
    }

    func bringUp(_ adapter: AdapterInformation) throws(Errno) { try calls.bringUp(descriptor, adapter.index) }

    func bringDown(_ adapter: AdapterInformation) throws(TransportError) {
        do throws(Errno) {
            try calls.bringDown(descriptor, adapter.index)
        } catch {
            throw failure(error, call: "HCIDEVDOWN", of: adapter)
        }
    }

    /// Returns the error for a failed call.
    func failure(_ error: Errno, call: String, of adapter: AdapterInformation? = nil) -> TransportError {
        let reason = TransportError.Reason(openingAdapter: error, call: call, executable: calls.executable())
        switch reason {
        case .noSuchAdapter: return failure(.noSuchAdapter(present: (try? list()) ?? []))
        case .adapterHeld: return failure(.adapterHeld(by: adapter.flatMap(holder)))
        case .adapterBlocked:
            let block = calls.switches().first { $0.name == adapter?.name }?.block
            return failure(.adapterBlocked(block ?? .software))
        default: return failure(reason)
        }
    }

    func failure(_ reason: TransportError.Reason) -> TransportError { TransportError(reason, transport: name) }
}
