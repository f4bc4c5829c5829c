import BluetoothHCI

/// What an activity asks the host to do. An activity keeps its state private: calls, answers and the passing of time go
/// in, and effects come out. The host performs them in order.
enum Effect: Sendable {
    /// Sends a command. The purpose determines the handler of its answer.
    case send(any HCICommand, for: CommandPurpose)
    case report(HostEvent)
}
