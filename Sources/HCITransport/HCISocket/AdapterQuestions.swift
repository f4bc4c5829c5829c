import BluetoothBase
import CBluetoothHCI

/// A socket to ask the kernel about adapters with, and what its refusals mean.
struct AdapterQuestions {
    /// What errors call the transport.
    let name: String
    let calls: AdapterCalls
    let control: Int32

    init(name: String, calls: AdapterCalls) throws(TransportError) {
        self.name = name
        self.calls = calls
        do throws(Errno) {
            control = try calls.openControl()
        } catch {
            let reason = TransportError.Reason(
                openingAdapter: error, call: "socket", present: [], executable: calls.executable())
            throw TransportError(reason, transport: name)
        }
    }

    /// The adapters present, by number.
    func list() throws(TransportError) -> [AdapterInformation] {
        try step("HCIGETDEVLIST") { () throws(Errno) in try adapters() }
    }

    /// The adapter that is meant.
    func find(_ selector: AdapterSelector) throws(TransportError) -> AdapterInformation {
        let adapters = try list()
        let adapter: AdapterInformation? =
            switch selector {
            case .first: adapters.first
            case .index(let index): adapters.first { $0.index == index }
            case .address(let address): adapters.first { $0.address == address }
            }
        guard let adapter else { throw TransportError(.noSuchAdapter(present: adapters), transport: name) }
        return adapter
    }

    /// Does something, and says what it means where that fails.
    func step<Result>(_ call: String, _ body: () throws(Errno) -> Result) throws(TransportError) -> Result {
        do throws(Errno) {
            return try body()
        } catch {
            let reason = TransportError.Reason(
                openingAdapter: error, call: call, present: (try? adapters()) ?? [], executable: calls.executable())
            throw TransportError(reason, transport: name)
        }
    }

    private func adapters() throws(Errno) -> [AdapterInformation] {
        var adapters: [AdapterInformation] = []
        for index in try calls.indices(control).sorted() {
            // One that has gone since is not there.
            if let adapter = try? calls.information(control, index) { adapters.append(adapter) }
        }
        return adapters
    }
}
