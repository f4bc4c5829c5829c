import BluetoothBase
import BluetoothSMP

/// The state machines of a host and its users, for the documentation and for the test of their diagrams. Each module
/// lists its own.
package enum MachineCatalog {
    /// A state machine, as shown in `Documentation/StateMachines.md`.
    package struct Entry: Sendable {
        package let name: String
        /// One sentence about the purpose of the state machine.
        package let summary: String
        package let diagram: String

        package init<Machine: StateMachine>(_ machine: Machine.Type, _ summary: String) {
            (name, diagram) = ("\(machine)", machine.diagram)
            self.summary = summary
        }
    }

    /// The state machines of this module and of the layers below it, in the order of the page.
    package static var ofHost: [Entry] {
        [
            Entry(
                ControllerLifecycle.self,
                "Brings the controller up, and resets it after failures until it fails too often."),
            Entry(
                HostAdvertisingSet.self,
                "Puts one advertising set into the state that the application wants, and takes it off the air."),
            Entry(Scanner.self, "Scans as the application, searches for peers and synchronizations require."),
            Entry(Initiator.self, "Connects to the requested peers, one at a time."),
            Entry(
                ResolvingList.self,
                "Fills the controller's list of peers whose private addresses it resolves, one command at a time."),
            Entry(
                LinkLife.self,
                "Follows a link from the controller's report to its end. Its users know it from `open` on."),
            Entry(PrivateAddress.self, "Replaces the random address of a host with privacy when it expires."),
            Entry(
                PeriodicSynchronizer.self,
                "Synchronizes to the requested periodic advertising; several requests take turns."),
            Entry(
                BearerNegotiation.self,
                "Asks a peer whether it supports enhanced ATT bearers, and opens them one at a time."),
            Entry(LinkEncryption.self, "Tracks how a link is encrypted, and which key the controller was given."),
            Entry(
                Pairing.self,
                "Pairs with the peer of a link, as its central or peripheral, until both devices have the keys."),
            Entry(
                PairingConclusion.self,
                "Holds the result of a pairing until the peer has the last keys and the bond is stored."),
            Entry(ServiceChangeIndication.self, "Indicates changes of this host's database to a peer, one at a time."),
            Entry(KeyMaterialIndication.self, "Indicates a change of the Encrypted Data Key Material to a peer."),
            Entry(ParameterNegotiation.self, "Changes the connection parameters of a link, or asks its central to."),
            Entry(PHYNegotiation.self, "Asks the controllers to change the PHYs, one request at a time."),
            Entry(PowerReadings.self, "Reads the power of this device and of the peer on a link."),
            Entry(PathLossReports.self, "Turns reports of a link's path loss on and off."),
            Entry(TransmitPowerReports.self, "Turns reports of changed transmit power on and off."),
        ]
    }
}
