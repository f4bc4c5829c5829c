import Foundation

/// Allows formatting with `%@`, as for any Objective-C object. On Linux this needs a conformance.
protocol FormatArgument: NSObject, _CVarArgObject {}

extension FormatArgument {
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension CBAttribute: FormatArgument {}
extension CBATTRequest: FormatArgument {}
extension CBL2CAPChannel: FormatArgument {}
extension CBManager: FormatArgument {}
extension CBPeer: FormatArgument {}
extension CBUUID: FormatArgument {}
// What the delegates are told is formatted, too: RSSI values and errors.
extension NSNumber: FormatArgument, @retroactive _CVarArgObject, @retroactive CVarArg {}
extension NSError: FormatArgument, @retroactive _CVarArgObject, @retroactive CVarArg {}

/// The address of an object, which distinguishes objects in a log.
func place(of object: AnyObject) -> String { "\(Unmanaged.passUnretained(object).toOpaque())" }
