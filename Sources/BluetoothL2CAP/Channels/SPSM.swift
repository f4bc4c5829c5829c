/// Which of the numbers by which LE devices find services over L2CAP mean what (Core 5.4, Vol 3, Part A, 4.22).
public enum SPSM {
    /// All of them.
    public static let all: ClosedRange<UInt16> = 0x0001...0x00FF
    /// Those that the Bluetooth SIG assigns.
    public static let fixed: ClosedRange<UInt16> = 0x0001...0x007F
    /// Those that a device assigns to its services as it likes.
    public static let dynamic: ClosedRange<UInt16> = 0x0080...0x00FF
    /// That of the Enhanced Attribute Protocol, which is the host's own (Vol 3, Part F, 3.2.11 and Assigned Numbers, 3.10).
    public static let enhancedATT: UInt16 = 0x0027
}
