import Testing

@testable import Adaptation

@Suite("Imports, attributes and protocols")
struct DeclarationTests {
    private static let importsRows = [
        Case("a module within a module", "import CoreBluetooth.CBUUID\n", "import CoreBluetooth\n"),
        Case(unchanged: "one declaration of it", "import class CoreBluetooth.CBUUID\n"),
        Case(unchanged: "what there is", "import CoreBluetooth\nimport Combine\nimport os.log\nimport OSLog\n"),
        Case(
            "a user interface, and Foundation that came with it",
            "import UIKit\nlet a = Data()\n",
            "import Foundation\n#if canImport(UIKit)\nimport UIKit\n#endif\nlet a = Data()\n"),
        Case(
            "a user interface, with Foundation",
            "import Foundation\nimport SwiftUI\n",
            "import Foundation\n#if canImport(SwiftUI)\nimport SwiftUI\n#endif\n"),
        Case(
            "what has a substitute",
            "import CryptoKit\n", "#if canImport(CryptoKit)\nimport CryptoKit\n#else\nimport Crypto\n#endif\n"),
        Case(
            "what has none", "import CoreLocation\nimport CoreBluetooth\n",
            "#if canImport(CoreLocation)\nimport CoreLocation\n#endif\nimport CoreBluetooth\n",
            "1: CoreLocation does not exist on Linux"),
        Case(unchanged: "behind a condition", "#if canImport(UIKit)\nimport UIKit\n#endif\n"),
        Case(unchanged: "for iOS", "#if os(iOS) || os(tvOS)\nimport UIKit\n@objc class A {}\n#endif\n"),
        Case(
            "the other branch", "#if os(iOS)\nimport UIKit\n#else\nimport AppKit\n#endif\nimport CoreBluetooth\n",
            "#if os(iOS)\nimport UIKit\n#else\n#if canImport(AppKit)\nimport AppKit\n#endif\n#endif\nimport CoreBluetooth\n"
        ),
        Case(
            unchanged: "nothing is compiled after the branch for Linux",
            "#if !canImport(ObjectiveC)\nlet a = 1\n#elseif DEBUG\n@objc class A {}\n#endif\n"),
    ]

    @Test("Imports", arguments: importsRows)
    func imports(row: Case) { row.check() }

    private static let attributesRows = [
        Case(
            "on the line", "    @objc private func a() {}\n",
            "    #if canImport(ObjectiveC)\n    @objc\n    #endif\n    private func a() {}\n"),
        Case(
            "on a separate line", "import Foundation\n@objcMembers\npublic class A: NSObject {}\n",
            "import Foundation\n#if canImport(ObjectiveC)\n@objcMembers\n#endif\npublic class A: NSObject {}\n"),
        Case(
            "with a name, after another", "@discardableResult @objc(b:) func a(_ a: Int) -> Int { a }\n",
            "@discardableResult\n#if canImport(ObjectiveC)\n@objc(b:)\n#endif\nfunc a(_ a: Int) -> Int { a }\n"),
        Case(
            "lines that end in another way", "import Foundation\r\n@objc\r\nclass A: NSObject {}\r\n",
            "import Foundation\r\n#if canImport(ObjectiveC)\r\n@objc\r\n#endif\r\nclass A: NSObject {}\r\n"),
        Case(unchanged: "nonobjc", "class A { @nonobjc func a() {} }\n"),
    ]

    @Test("Attributes", arguments: attributesRows)
    func attributes(row: Case) { row.check() }

    private static let protocolsRows = [
        Case("class", "protocol A: class {}\n", "protocol A: AnyObject {}\n"),
        Case(
            "weak ones have to be of classes", "@objc protocol A {}\n",
            "#if canImport(ObjectiveC)\n@objc\n#endif\nprotocol A: AnyObject {}\n"),
        Case(
            "what may be left out",
            """
            import Foundation
            @objc public protocol SensorDelegate: NSObjectProtocol {
                /// It began.
                func didStart(_ sensor: Sensor)
                @objc optional func sensor(_ sensor: Sensor, didRead value: Data)
                @objc
                optional func mayStop(
                    _ sensor: Sensor
                ) -> Bool
                @objc optional var timeout: NSNumber? { get }
            }
            func a() {
                delegate?.didStart(self)
                delegate?.sensor?(self, didRead: value)
                guard delegate?.mayStop?(self) ?? true else { return }
            }

            """,
            """
            import Foundation
            public protocol SensorDelegate: NSObjectProtocol {
                /// It began.
                func didStart(_ sensor: Sensor)
                func sensor(_ sensor: Sensor, didRead value: Data)
                func mayStop(
                    _ sensor: Sensor
                ) -> Bool
                var timeout: NSNumber? { get }
            }

            // What a delegate may leave out.
            public extension SensorDelegate {
                func sensor(_ sensor: Sensor, didRead value: Data) {}
                func mayStop(_ sensor: Sensor) -> Bool { true }
                var timeout: NSNumber? { nil }
            }
            func a() {
                delegate?.didStart(self)
                delegate?.sensor(self, didRead: value)
                guard delegate?.mayStop(self) ?? true else { return }
            }

            """),
        Case(
            unchanged: "an answer that nobody knows",
            """
            @objc protocol A {
                @objc optional func a()
                @objc optional func b() -> Int
            }
            func f() { delegate?.a?() }

            """, "3: an optional requirement needs a default"),
        Case(
            "a method of Core Bluetooth's delegates, which may be left out on Apple's platforms",
            """
            func f() {
                real?.peripheral?(p, didDiscoverServices: error)
                queue.async { self.real?.peripheralDidUpdateName?(p) }
            }

            """,
            """
            func f() {
                #if canImport(ObjectiveC)
                real?.peripheral?(p, didDiscoverServices: error)
                #else
                real?.peripheral(p, didDiscoverServices: error)
                #endif
                queue.async {
                #if canImport(ObjectiveC)
                self.real?.peripheralDidUpdateName?(p)
                #else
                self.real?.peripheralDidUpdateName(p)
                #endif
                }
            }

            """),
    ]

    @Test("Protocols and what is optional in them", arguments: protocolsRows)
    func protocols(row: Case) { row.check() }

    @Test("What one file declares counts for the others")
    func files() {
        let results = Adaptation.adapt([
            SourceText(path: "A.swift", text: "func f() { delegate?.done?() }\n"),
            SourceText(path: "B.swift", text: "@objc protocol D: AnyObject { @objc optional func done() }\n"),
        ])
        #expect(results[0].after == "func f() { delegate?.done() }\n")
        #expect(results[1].after.hasPrefix("protocol D: AnyObject { func done() }\n"))
    }
}
