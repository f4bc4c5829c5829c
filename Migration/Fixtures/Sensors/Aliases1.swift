import CoreBluetooth
#if canImport(UIKit)
import UIKit
public typealias PlatformImage = UIImage
#elseif canImport(AppKit)
import AppKit
public typealias PlatformImage = NSImage
#endif

/// Uses of an alias that exists only with a user interface.
public struct Icon {
    public let name: String
    public var image: PlatformImage? { PlatformImage(named: name) }
    public func draw(_ image: PlatformImage) -> String { name }
    public var title: String { name.uppercased() }
}
