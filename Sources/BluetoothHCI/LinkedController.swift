/// A controller that a program can use by name, in a module that the program links but does not import.
///
/// `CoreBluetooth` finds the virtual radio this way. It does not depend on `VirtualRadio`, so that programs for real
/// adapters contain no radio.
package protocol LinkedController: AnyObject {
    /// Creates a controller, and returns the host's end of it.
    static func make() -> any PacketPort
}
