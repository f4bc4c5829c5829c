import Foundation

/// Allows formatting with `%@`, as for any Objective-C object. On Linux this needs a conformance.
protocol FormatArgument: NSObject, _CVarArgObject {}

extension FormatArgument {
    /// The description as a string object, which replaces this object in a C argument list. `%@` prints it.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The string object, as the words of a C argument list.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension CBAttribute: FormatArgument {}
extension CBATTRequest: FormatArgument {}
extension CBL2CAPChannel: FormatArgument {}
extension CBManager: FormatArgument {}
extension CBPeer: FormatArgument {}
extension CBUUID: FormatArgument {}
// Applications also format the arguments of delegate methods: RSSI values and errors.
extension NSNumber: FormatArgument, @retroactive _CVarArgObject, @retroactive CVarArg {}
extension NSError: FormatArgument, @retroactive _CVarArgObject, @retroactive CVarArg {}

/// The address of an object, which distinguishes objects in a log.
func place(of object: AnyObject) -> String { "\(Unmanaged.passUnretained(object).toOpaque())" }
