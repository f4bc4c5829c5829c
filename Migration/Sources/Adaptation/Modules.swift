import SwiftSyntax

/// What Linux has not got.
enum Modules {
    /// Frameworks for what is seen on a screen.
    static let userInterface: Set<String> = ["UIKit", "AppKit", "SwiftUI", "Cocoa", "WatchKit"]

    /// Others that code around Bluetooth imports.
    static let others: Set<String> = [
        "ActivityKit", "ARKit", "AVFoundation", "AVKit", "Accelerate", "AccessorySetupKit", "AdSupport",
        "AppIntents", "AppTrackingTransparency", "AudioToolbox", "AuthenticationServices", "BackgroundTasks",
        "CarPlay", "Charts", "CloudKit", "CommonCrypto", "Compression", "Contacts", "CoreAudio",
        "CoreAudioKit", "CoreData", "CoreGraphics", "CoreHaptics", "CoreImage", "CoreLocation", "CoreML", "CoreMotion",
        "CoreMedia", "CoreNFC", "CoreServices", "CoreSpotlight", "CoreTelephony", "CoreText", "CoreVideo", "CryptoKit",
        "Darwin", "DeviceCheck", "EventKit",
        "ExternalAccessory", "GameController", "GameKit", "HealthKit", "HomeKit",
        "IOBluetooth", "IOKit", "ImageIO", "Intents", "LocalAuthentication", "MapKit", "MediaPlayer", "MessageUI",
        "Metal",
        "MetricKit",
        "MobileCoreServices", "MultipeerConnectivity", "NaturalLanguage", "Network", "NetworkExtension",
        "NotificationCenter", "ObjectiveC", "PDFKit", "PhotosUI", "Photos", "Quartz", "QuartzCore", "QuickLook",
        "RealityKit", "ReplayKit", "SafariServices", "SceneKit", "Security", "ServiceManagement", "Speech", "SpriteKit",
        "StoreKit", "SwiftData", "SystemConfiguration", "UniformTypeIdentifiers", "UserNotifications", "Vision",
        "WatchConnectivity", "WebKit", "WidgetKit", "simd",
    ]

    static func isMissing(_ name: String) -> Bool { userInterface.contains(name) || others.contains(name) }

    /// Those that bring Foundation along.
    static let exportFoundation: Set<String> = userInterface.union([
        "AVFoundation", "CloudKit", "CoreData", "CoreGraphics", "CoreLocation", "Darwin", "HealthKit", "QuartzCore",
        "UserNotifications", "WatchConnectivity",
    ])

    /// The frameworks that a type may be of, to judge by its name.
    static func frameworks(ofType name: String) -> Set<String> {
        if swiftUI.contains(name) { return ["SwiftUI"] }
        if appKit.contains(name) { return ["AppKit", "Cocoa", "SwiftUI"] }
        guard name.count > 2, name.dropFirst(2).first?.isUppercase == true else { return [] }
        return prefixes[String(name.prefix(2))] ?? []
    }

    private static let prefixes: [String: Set<String>] = [
        "AV": ["AVFoundation"], "CL": ["CoreLocation"], "HK": ["HealthKit"], "LA": ["LocalAuthentication"],
        "MK": ["MapKit"], "UI": ["UIKit", "SwiftUI"], "UN": ["UserNotifications"], "WC": ["WatchConnectivity"],
        "WK": ["WatchKit", "WebKit"],
    ]

    /// Types of Dispatch and Foundation that Linux lacks, and that nothing replaces.
    static let absentTypes: Set<String> = ["DispatchSourceFileSystemObject", "DispatchIO.FileSystemEvent"]

    private static let appKit: Set<String> = [
        "NSAlert", "NSApp", "NSApplication", "NSButton", "NSColor", "NSHostingController", "NSHostingView", "NSImage",
        "NSMenu", "NSMenuItem", "NSPasteboard", "NSStatusBar", "NSStatusItem", "NSTableView", "NSTextField", "NSView",
        "NSViewController", "NSViewRepresentable", "NSWindow", "NSWorkspace",
    ]

    private static let swiftUI: Set<String> = [
        "Alert", "App", "AppStorage", "Binding", "Button", "Color", "ColorScheme", "Environment", "EnvironmentKey",
        "EnvironmentObject", "EnvironmentValues", "Font", "Form", "HStack", "Image", "Label", "LazyVStack",
        "LinearGradient", "List", "NavigationStack", "NavigationView", "ObservedObject", "Preview", "PreviewProvider",
        "Scene", "ScrollView", "Shape", "Spacer", "State", "StateObject", "Text", "TextField", "Toggle", "VStack",
        "View", "ViewModifier", "ZStack",
    ]
}

/// Whether a condition of `#if` holds on Linux; nil where that cannot be told.
func holdsOnLinux(_ condition: ExprSyntax?) -> Bool? {
    guard let condition else { return nil }
    if let call = condition.as(FunctionCallExprSyntax.self),
        let argument = call.arguments.first?.expression.trimmedDescription
    {
        switch call.calledExpression.trimmedDescription {
        case "os": return argument == "Linux"
        case "canImport":
            if Modules.isMissing(argument) { return false }
            return ["Foundation", "CoreBluetooth", "Combine", "os", "Glibc"].contains(argument) ? true : nil
        case "targetEnvironment": return false
        default: return nil
        }
    }
    if let not = condition.as(PrefixOperatorExprSyntax.self), not.operator.text == "!" {
        return holdsOnLinux(not.expression).map { !$0 }
    }
    if let tuple = condition.as(TupleExprSyntax.self), tuple.elements.count == 1 {
        return holdsOnLinux(tuple.elements.first?.expression)
    }
    if let both = condition.as(InfixOperatorExprSyntax.self) {
        let (left, right) = (holdsOnLinux(both.leftOperand), holdsOnLinux(both.rightOperand))
        switch both.operator.trimmedDescription {
        case "&&": return left == false || right == false ? false : left == true && right == true ? true : nil
        case "||": return left == true || right == true ? true : left == false && right == false ? false : nil
        default: return nil
        }
    }
    return nil
}
