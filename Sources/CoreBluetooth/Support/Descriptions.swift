import Foundation

/// What can be formatted with `%@`, as any object of Objective-C can be; on Linux that takes a conformance.
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

/// Where an object is, by which two are told apart in a log.
func place(of object: AnyObject) -> String { "\(Unmanaged.passUnretained(object).toOpaque())" }
