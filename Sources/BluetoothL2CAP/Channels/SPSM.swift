/// The ranges of the SPSM, the number by which LE devices identify services over L2CAP (Core 5.4, Vol 3, Part A, 4.22).
public enum SPSM {
    /// All valid values.
    public static let all: ClosedRange<UInt16> = 0x0001...0x00FF
    /// The values assigned by the Bluetooth SIG.
    public static let fixed: ClosedRange<UInt16> = 0x0001...0x007F
    /// The values that a device can assign to its services freely.
    public static let dynamic: ClosedRange<UInt16> = 0x0080...0x00FF
    /// The value of the Enhanced Attribute Protocol, which the host itself serves (Vol 3, Part F, 3.2.11 and Assigned
    /// Numbers, 3.10).
    public static let enhancedATT: UInt16 = 0x0027
}
