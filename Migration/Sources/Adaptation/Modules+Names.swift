extension Modules {
    /// Whether a module belongs to a system, and not to a package.
    static func isOfSystem(_ name: String) -> Bool {
        let available: Set<String> = [
            "Combine", "CoreBluetooth", "CoreFoundation", "Crypto", "Dispatch", "Foundation", "FoundationNetworking",
            "Glibc", "OSLog", "Observation", "Swift", "Synchronization", "os",
        ]
        return available.contains(name) || isMissing(name)
    }

    /// The module that has a name on Linux, as far as Bluetooth code needs it.
    static func module(of name: String) -> String? {
        if networking.contains(name) { return "FoundationNetworking" }
        if provided.contains(name) || isCoreBluetooth(name) { return "CoreBluetooth" }
        if isCoreFoundation(name) { return "CoreFoundation" }
        if combine.contains(name) { return "Combine" }
        return foundation.contains(name) ? "Foundation" : nil
    }

    /// Names that the module CoreBluetooth provides on Linux, and another framework on Apple's platforms.
    static let provided: Set<String> = [
        "ListFormatter", "NSHashTable", "NSKeyValueChange", "NSKeyValueObservation", "NSKeyValueObservedChange",
        "NSKeyValueObservingOptions", "NSMapTable", "NSPointerFunctions", "OBJC_ASSOCIATION_ASSIGN",
        "SecRandomCopyBytes", "__dispatch_queue_get_label", "UIApplicationDelegate", "errSecSuccess",
        "kSecRandomDefault", "objc_AssociationPolicy",
        "objc_getAssociatedObject", "objc_removeAssociatedObjects", "objc_setAssociatedObject", "objc_sync_enter",
        "objc_sync_exit",
    ]

    /// Names of FoundationNetworking, which is a part of Foundation on Apple's platforms.
    private static let networking: Set<String> = [
        "CachedURLResponse", "HTTPCookie", "HTTPCookieStorage", "HTTPURLResponse", "URLAuthenticationChallenge",
        "URLCache", "URLCredential", "URLCredentialStorage", "URLProtectionSpace", "URLProtocol", "URLRequest",
        "URLResponse", "URLSession", "URLSessionConfiguration", "URLSessionDataDelegate", "URLSessionDataTask",
        "URLSessionDelegate", "URLSessionDownloadDelegate", "URLSessionDownloadTask", "URLSessionTask",
        "URLSessionTaskDelegate", "URLSessionUploadTask", "URLSessionWebSocketDelegate", "URLSessionWebSocketTask",
    ]

    /// `CFSwapInt16LittleToHost`, `CFRunLoopStop`: Foundation exports them on Apple's platforms only.
    private static func isCoreFoundation(_ name: String) -> Bool {
        [
            "CFByteOrder", "CFRunLoop", "CFString", "CFSwapInt", "CFUUID", "CFNumber", "CFData", "CFArray",
            "CFDictionary",
        ]
        .contains(where: name.hasPrefix) || ["kCFAllocatorDefault", "kCFRunLoopDefaultMode"].contains(name)
    }

    /// Names of Combine, which Foundation and SwiftUI export on Apple's platforms.
    private static let combine: Set<String> = [
        "AnyCancellable", "AnyPublisher", "CurrentValueSubject", "ObservableObject", "ObservableObjectPublisher",
        "PassthroughSubject", "Published",
    ]

    private static let foundation: Set<String> = [
        "Bundle", "Calendar", "CharacterSet", "CustomNSError", "Data", "Date", "DateComponents", "DateFormatter",
        "Decimal", "DispatchGroup", "DispatchQueue", "DispatchSemaphore", "DispatchSource", "DispatchTime",
        "DispatchTimeInterval", "DispatchWorkItem", "FileHandle", "FileManager", "IndexSet", "InputStream",
        "ISO8601DateFormatter", "JSONDecoder", "JSONEncoder", "JSONSerialization", "Locale", "LocalizedError",
        "Measurement", "NSArray", "NSCoder", "NSCoding", "NSCondition", "NSData", "NSDictionary", "NSError", "NSLock",
        "NSLog", "NSMutableArray", "NSMutableData", "NSMutableDictionary", "NSNotification", "NSNumber", "NSObject",
        "NSObjectProtocol", "NSRecursiveLock", "NSSet", "NSString", "NSUUID", "NSValue", "Notification",
        "NotificationCenter", "NumberFormatter", "Operation", "OperationQueue", "OutputStream", "ProcessInfo",
        "Progress", "PropertyListDecoder", "PropertyListEncoder", "RunLoop", "Scanner", "Stream", "Thread",
        "TimeInterval", "TimeZone", "Timer", "URL", "URLComponents", "URLQueryItem", "UUID", "UserDefaults",
    ]

    /// `CBPeripheral`, and constants such as `CBAdvertisementDataLocalNameKey`.
    static func isCoreBluetooth(_ name: String) -> Bool {
        guard name.hasPrefix("CB"), let third = name.dropFirst(2).first, third.isUppercase,
            name.dropFirst(3).contains(where: \.isLowercase)
        else { return name == "CBUUID" }
        return coreBluetooth.contains { name.dropFirst(2).hasPrefix($0) }
    }

    /// How Core Bluetooth's names go on after their prefix.
    private static let coreBluetooth = [
        "ATT", "Advertisement", "Attribute", "Central", "Characteristic", "Connect", "Descriptor", "Error",
        "L2CAP", "Manager", "Mutable", "Peer", "Peripheral", "Service", "UUID",
    ]
}
