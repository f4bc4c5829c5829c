import BluetoothHCI

/// What an activity asks of the host. An activity keeps its state to itself: calls, answers and the passing of time go
/// in, effects come out, and the host carries them out in order.
enum Effect: Sendable {
    /// Sends a command. Its answer comes back to where the purpose says.
    case send(any HCICommand, for: CommandPurpose)
    case report(HostEvent)
}
