// Written by Scripts/numbers from the lists of the Bluetooth SIG.
// swift-format-ignore-file

extension AssignedNumbers {
    static let declarations = NameList(#"""
        2800 Primary Service
        2801 Secondary Service
        2802 Include
        2803 Characteristic
        """#)
}
