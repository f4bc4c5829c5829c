import Testing

@testable import Adaptation

@Suite("Patterns of published libraries")
struct PatternTests {
    private static let trapRows = [
        Case(
            "a method that only a subclass implements",
            """
            import CoreBluetooth
            open class Base: NSObject, CBPeripheralDelegate {
                public func peripheralDidUpdateName(_ peripheral: CBPeripheral) {}
            }
            class Sensor: Base {
                override func peripheralDidUpdateName(_ peripheral: CBPeripheral) {}
                func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: Error?) {}
            }

            """,
            """
            import CoreBluetooth
            open class Base: NSObject, CBPeripheralDelegate {
                public func peripheralDidUpdateName(_ peripheral: CBPeripheral) {}

                // Overridden in subclasses. On Linux, a subclass cannot add a delegate's method.
                public func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: Error?) {}
            }
            class Sensor: Base {
                override func peripheralDidUpdateName(_ peripheral: CBPeripheral) {}
                override func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: Error?) {}
            }

            """),
        Case(
            "an empty base class, and a method in an extension, which is moved",
            """
            import CoreBluetooth
            class Base: NSObject, CBPeripheralManagerDelegate {}
            class Server: Base {
            }
            extension Server {
                /// Answers.
                func peripheralManager(_ p: CBPeripheralManager, didReceiveRead r: CBATTRequest) {}
            }

            """,
            """
            import CoreBluetooth
            class Base: NSObject, CBPeripheralManagerDelegate {
                // Overridden in subclasses. On Linux, a subclass cannot add a delegate's method.
                func peripheralManager(_ p: CBPeripheralManager, didReceiveRead r: CBATTRequest) {
                    p.respond(to: r, withResult: .requestNotSupported)
                }
            }
            class Server: Base {

                /// Answers.
                override func peripheralManager(_ p: CBPeripheralManager, didReceiveRead r: CBATTRequest) {}
            }
            extension Server {
            }

            """),
        Case(
            unchanged: "a method that the base class has",
            """
            import CoreBluetooth
            class Base: NSObject, CBPeripheralDelegate {
                func peripheralDidUpdateName(_ peripheral: CBPeripheral) {}
            }
            class Sensor: Base {
                override func peripheralDidUpdateName(_ peripheral: CBPeripheral) {}
            }

            """),
    ]

    @Test(arguments: trapRows)
    func `A base class gets the delegate methods that its subclasses add`(row: Case) { row.check() }

    private static let observingRows = [
        Case(
            "a property of an object that is a property",
            """
            import CoreBluetooth
            class A: NSObject {
                dynamic var manager: CBCentralManager?
                func f() {
                    o = observe(\\.manager?.isScanning, options: [.new]) { _, _ in }
                }
            }

            """,
            """
            import CoreBluetooth
            class A: NSObject {
                #if !canImport(ObjectiveC)
                let _observers = KeyValueObservers()
                #endif

                dynamic var manager: CBCentralManager? {
                    didSet {
                        #if !canImport(ObjectiveC)
                        _observers.changed()
                        #endif
                    }
                }
                func f() {
                    #if canImport(ObjectiveC)
                    o = observe(\\.manager?.isScanning, options: [.new]) { _, _ in }
                    #else
                    o = observe(\\.manager?.isScanning, through: { [$0.manager] }, options: [.new]) { _, _ in }
                    #endif
                }
            }

            #if !canImport(ObjectiveC)
            extension A: KeyValueObservable {}
            #endif

            """),
        Case(
            unchanged: "a property that nobody observes",
            "import Foundation\nclass A: NSObject {\n    dynamic var a = 1\n}\n"),
    ]

    @Test(arguments: observingRows)
    func `Classes with observed properties report their changes`(row: Case) { row.check() }

    private static let importRows = [
        Case(
            "networking", "import Foundation\nlet a: URLRequest\n",
            "#if canImport(FoundationNetworking) && !canImport(ObjectiveC)\nimport FoundationNetworking\n#endif\n"
                + "import Foundation\nlet a: URLRequest\n"),
        Case("an umbrella header", "// A\nlet a: UUID\n", "// A\nimport Foundation\n\nlet a: UUID\n"),
        Case(
            "Core Bluetooth of a neighbor", "import Foundation\nextension CBPeripheral {}\n",
            "import CoreBluetooth\nimport Foundation\nextension CBPeripheral {}\n"),
        Case(unchanged: "a type of the file's own", "struct Data {}\nlet a: Data\n"),
        Case(
            unchanged: "a name that another package may declare",
            "import CoreBluetoothMock\nlet a: CBPeripheral? = nil\n"),
        Case(unchanged: "a type with a similar name", "let a: CBORDecoder\n"),
        Case(
            "a subclass of a lock", "import Foundation\nclass A: NSLock {}\n",
            "#if canImport(CoreFoundation) && !canImport(ObjectiveC)\nimport CoreFoundation\n#endif\n"
                + "import Foundation\nclass A: NSLock {}\n"),
    ]

    @Test(arguments: importRows)
    func `Missing imports are added`(row: Case) { row.check() }

    private static let hiddenRows = [
        Case(
            "an alias, a property with it, and its uses",
            """
            import CoreBluetooth
            #if canImport(UIKit)
            typealias Image = UIImage
            #endif
            class A {
                var image: Image?
                func f() {
                    image = nil
                    g()
                }
                func h(_ image: Image) {}
            }

            """,
            """
            import CoreBluetooth
            #if canImport(UIKit)
            typealias Image = UIImage
            #endif
            class A {
                #if canImport(UIKit)
                var image: Image?
                #endif
                func f() {
                    #if canImport(UIKit)
                    image = nil
                    #endif
                    g()
                }
                #if canImport(UIKit)
                func h(_ image: Image) {}
                #endif
            }

            """),
        Case(
            unchanged: "an alias that Linux has as well",
            """
            import CoreBluetooth
            #if canImport(UIKit)
            typealias Image = UIImage
            #else
            typealias Image = Data
            #endif
            let a: Image? = nil

            """),
        Case(
            "a value that has another name",
            "import UIKit\nfunc f() {\n    let a = UIDevice.current.name\n}\n",
            """
            import Foundation
            #if canImport(UIKit)
            import UIKit
            #endif
            func f() {
                #if canImport(ObjectiveC)
                let a = UIDevice.current.name
                #else
                let a = ProcessInfo.processInfo.hostName
                #endif
            }

            """),
        Case(
            "a function with an optional result",
            "import UIKit\nfunc f() -> String? {\n    let a = UIScreen.main.name\n    return a\n}\n",
            """
            import Foundation
            #if canImport(UIKit)
            import UIKit
            #endif
            func f() -> String? {
                #if canImport(UIKit)
                let a = UIScreen.main.name
                return a
                #else
                return nil
                #endif
            }

            """, "3: Linux returns nil here"),
        Case(
            "branches of Apple's systems only",
            "import CoreBluetooth\n#if os(iOS)\nlet a = 1\n#elseif os(macOS)\nlet a = 2\n#endif\n",
            "import CoreBluetooth\n#if os(iOS)\nlet a = 1\n#elseif os(macOS) || os(Linux)\nlet a = 2\n#endif\n"),
    ]

    @Test(arguments: hiddenRows)
    func `The uses of names that Linux lacks are followed`(row: Case) { row.check() }

    private static let optionalRows = [
        Case(
            "a parameter", "import CoreBluetooth\nfunc f(_ c: CBCharacteristic) { g(c.service.uuid) }\n",
            "import CoreBluetooth\nfunc f(_ c: CBCharacteristic) { g(c.service!.uuid) }\n"),
        Case(
            "several steps", "import CoreBluetooth\nlet f = { (d: CBDescriptor) in d.characteristic.service.uuid }\n",
            "import CoreBluetooth\nlet f = { (d: CBDescriptor) in d.characteristic!.service!.uuid }\n"),
        Case(
            unchanged: "what is unwrapped, or is another type",
            "import CoreBluetooth\nfunc f(_ c: CBCharacteristic, _ d: Own) { c.service?.uuid; d.service.uuid }\n"),
    ]

    @Test(arguments: optionalRows)
    func `What newer SDKs have made optional is unwrapped`(row: Case) { row.check() }

    @Test
    func `CommonCrypto's digests are written with swift-crypto`() {
        let text = "import CommonCrypto\nlet a = CC_SHA256(b, CC_LONG(3), &c)\n"
        let after = Case.adapted(text).after
        #expect(after.hasPrefix("#if canImport(CommonCrypto)\nimport CommonCrypto\n#else\nimport Crypto\n#endif\n"))
        #expect(after.contains("private func CC_SHA256("))
        #expect(!after.contains("CCHmac"))
        #expect(Case.adapted(after).after == after)
    }

    @Test
    func `A file that is not valid Swift is named and kept`() {
        let result = Case.adapted("import UIKit\n<<<<<<< HEAD\nlet a = (\n")
        #expect(result.after == result.before)
        #expect(result.unparsed.count == 1)
    }

    @Test(arguments: [
        ("no such module 'zlib'", 1, 8, "import zlib\n", "#if canImport(zlib)\nimport zlib\n#endif\n"),
        (
            "value of optional type 'CBService?' must be unwrapped to a value of type 'CBService'", 1, 5,
            "f(c.service)\n", "f(c.service!)\n"
        ),
        ("cannot find type 'UUID' in scope", 1, 8, "let a: UUID\n", "import Foundation\nlet a: UUID\n"),
        (
            "argument type 'Any' does not conform to expected type 'CVarArg'", 1, 13, "NSLog(\"%@\", a.b)\n",
            "NSLog(\"%@\", String(describing: a.b))\n"
        ),
        ("cannot find 'x' in scope", 1, 1, "x()\n", "x()\n"),
    ])
    func `Errors of the compiler are repaired`(
        message: String, line: Int, column: Int, before: String, after: String
    ) {
        let error = Diagnostic(file: "/A.swift", line: line, column: column, message: message)
        #expect(Adaptation.repair([SourceText(path: "/A.swift", text: before)], errors: [error])[0].after == after)
    }

    @Test
    func `Errors are read from the compiler's output`() {
        let output = """
            [1/2] Compiling A
            /p/A.swift:3:7: error: no such module 'B' [#NoSuchModule]
              |       `- error: no such module 'B'
            /p/A.swift:3:7: error: no such module 'B'
            /p/A.swift:4:1: warning: unused
            """
        #expect(
            Diagnostic.errors(in: output) == [
                Diagnostic(file: "/p/A.swift", line: 3, column: 7, message: "no such module 'B'")
            ])
    }
}
