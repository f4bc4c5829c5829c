import CoreBluetooth
import ObjectiveC

private var tagKey: UInt8 = 0

/// Values that belong to objects of another module.
extension CBPeripheral {
    var tag: String? {
        get { objc_getAssociatedObject(self, &tagKey) as? String }
        set { objc_setAssociatedObject(self, &tagKey, newValue, .OBJC_ASSOCIATION_RETAIN_NONATOMIC) }
    }
}

private enum Keys { static var handler = "handler" }

extension CBService {
    func setHandler(_ handler: @escaping () -> Void) {
        objc_setAssociatedObject(self, &Keys.handler, handler, objc_AssociationPolicy.OBJC_ASSOCIATION_COPY)
    }

    func removeHandlers() { objc_removeAssociatedObjects(self) }
}
