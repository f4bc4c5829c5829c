import Testing

@testable import Adaptation

@Suite("Selectors, names and user interfaces")
struct ExpressionTests {
    private static func type(_ body: String, _ members: String = "@objc private func tick() {}") -> String {
        "import Foundation\nclass A: NSObject {\n    \(members)\n    func f() {\n        \(body)\n    }\n}\n"
    }

    private static let plain = "private func tick() {}"
    private static let hidden = "#if canImport(ObjectiveC)\n    @objc\n    #endif\n    private func tick() {}"

    private static let selectorsRows = [
        Case(
            "a timer",
            type(
                "t = Timer.scheduledTimer(timeInterval: 1, target: self, selector: #selector(tick), userInfo: nil, repeats: true)"
            ),
            type(
                "t = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [weak self] _ in self?.tick() }", plain)
        ),
        Case(
            "a timer that is passed on",
            type(
                "t = Timer(timeInterval: a, target: self, selector: #selector(A.tick(_:)), userInfo: nil, repeats: false)",
                "@objc func tick(_ timer: Timer) {}"),
            type(
                "t = Timer(fire: Date(timeIntervalSinceNow: a), interval: a, repeats: false) { [weak self] timer in self?.tick(timer) }",
                "func tick(_ timer: Timer) {}")),
        Case(
            "a timer with a block, which on Linux would fire at once",
            type("t = Timer(timeInterval: a, repeats: false) { _ in self.tick() }", plain),
            type(
                "t = Timer(fire: Date(timeIntervalSinceNow: a), interval: a, repeats: false) { _ in self.tick() }",
                plain)),
        Case(
            "what a timer carries, where nobody asks for it",
            type(
                "Timer.scheduledTimer(timeInterval: 1, target: self, selector: #selector(tick), userInfo: a, repeats: true)"
            ),
            type("Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [weak self] _ in self?.tick() }", plain)),
        Case(
            "what a timer carries",
            type(
                "Timer.scheduledTimer(timeInterval: 1, target: self, selector: #selector(tick(_:)), userInfo: a, repeats: true)",
                "func tick(_ timer: Timer) {}"),
            "import CoreBluetooth\n"
                + type(
                    """
                    #if canImport(ObjectiveC)
                            Timer.scheduledTimer(timeInterval: 1, target: self, selector: #selector(tick(_:)), userInfo: a, repeats: true)
                            #else
                            Timer.scheduledTimer(timeInterval: 1, userInfo: a, repeats: true) { [weak self] timer in self?.tick(timer) }
                            #endif
                    """, "func tick(_ timer: Timer) {}")),
        Case(
            "a timer with a date, of a type, among methods with the same name",
            "import Foundation\nclass A {\n    static func f() {\n        t = Timer(fireAt: d, interval: 2, target: self, selector: #selector(tick(timer:)), userInfo: nil, repeats: true)\n    }\n"
                + "    static func tick(timer: Timer) {}\n    static func tick(_ a: Int, b: Int) {}\n}\n",
            "import Foundation\nclass A {\n    static func f() {\n        t = Timer(fire: d, interval: 2, repeats: true) { timer in self.tick(timer: timer) }\n    }\n"
                + "    static func tick(timer: Timer) {}\n    static func tick(_ a: Int, b: Int) {}\n}\n"),
        Case(
            "an observer",
            type("NotificationCenter.default.addObserver(self, selector: #selector(tick), name: .ended, object: nil)"),
            type(
                """
                #if canImport(ObjectiveC)
                        NotificationCenter.default.addObserver(self, selector: #selector(tick), name: .ended, object: nil)
                        #else
                        _ = NotificationCenter.default.addObserver(forName: .ended, object: nil, queue: nil) { [weak self] _ in self?.tick() }
                        #endif
                """, hidden)),
        Case(
            "something later", type("perform(#selector(tick), with: nil, afterDelay: 2)"),
            type(
                """
                #if canImport(ObjectiveC)
                        perform(#selector(tick), with: nil, afterDelay: 2)
                        #else
                        DispatchQueue.main.asyncAfter(deadline: .now() + 2) { [weak self] in self?.tick() }
                        #endif
                """, hidden)),
        Case(
            "something on the main thread",
            type("performSelector(onMainThread: #selector(tick), with: nil, waitUntilDone: false)"),
            type(
                """
                #if canImport(ObjectiveC)
                        performSelector(onMainThread: #selector(tick), with: nil, waitUntilDone: false)
                        #else
                        DispatchQueue.main.async { [weak self] in self?.tick() }
                        #endif
                """, hidden)),
        Case(
            "what is left", type("a.addTarget(self, action: #selector(tick), for: .touchUpInside)"),
            type("a.addTarget(self, action: #selector(tick), for: .touchUpInside)", hidden), "5: selectors need"),
        Case(
            unchanged: "with Objective-C at hand",
            "#if canImport(ObjectiveC)\nlet a = #selector(B.c)\n#endif\n"),
    ]

    @Test("Selectors", arguments: selectorsRows)
    func selectors(row: Case) { row.check() }

    private static let namesRows = [
        Case(
            "constants", "let a = Double(NSEC_PER_SEC) / USEC_PER_SEC\n",
            "let a = Double(UInt64(1_000_000_000)) / UInt64(1_000_000)\n"),
        Case(unchanged: "constants of others", "let a = Time.NSEC_PER_SEC\n"),
        Case(
            "time",
            "import Foundation\nlet a: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()\nlet b = CACurrentMediaTime()\n",
            "import Foundation\nlet a: TimeInterval = Date().timeIntervalSinceReferenceDate\nlet b = ProcessInfo.processInfo.systemUptime\n"
        ),
        Case(
            "the identifier of a bundle, which Linux has none of",
            "import Foundation\nlet a = Bundle.main.bundleIdentifier! + b\nlet c = Bundle.main.bundleIdentifier\n",
            "import Foundation\nlet a = (Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName) + b\n"
                + "let c = Bundle.main.bundleIdentifier\n"),
        Case("chance", "let a = arc4random_uniform(6)\n", "let a = UInt32.random(in: 0..<UInt32(6))\n"),
        Case(
            "a pool", "autoreleasepool {\n    f()\n}\n",
            """
            autoreleasepool {
                f()
            }

            #if !canImport(ObjectiveC)
            private func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
            #endif

            """),
        Case(
            "what is formatted", "import Foundation\nNSLog(\"%d %@\", 5, error as CVarArg)\n",
            "import Foundation\nNSLog(\"%d %@\", 5, String(describing: error))\n"),
        Case(
            "in the log", "os_log(\"%{public}@\", log: log, type: .error, id as CVarArg)\n",
            "os_log(\"%{public}@\", log: log, type: .error, String(describing: id))\n"),
        Case(unchanged: "a number that is formatted", "import Foundation\nNSLog(\"%d\", a as CVarArg)\n"),
        Case(
            unchanged: "what is not there", "NSSelectorFromString(a)\nlet a: NSPointerArray\n",
            "1: there is no NSSelectorFromString",
            "2: there is no NSPointerArray"),
        Case(
            "what the module CoreBluetooth provides",
            "import Foundation\nobjc_sync_enter(self)\nlet a: NSHashTable<A>\nlet b: CFTimeInterval = 1\n",
            "import CoreBluetooth\nimport Foundation\nobjc_sync_enter(self)\nlet a: NSHashTable<A>\nlet b: TimeInterval = 1\n"
        ),
    ]

    @Test("Names", arguments: namesRows)
    func names(row: Case) { row.check() }

    private static let head = "import CoreBluetooth\n#if canImport(UIKit)\nimport UIKit\n#endif\n"

    private static let interfacesRows = [
        Case(
            "a type", head + "class A: UIViewController {\n    @objc func a() {}\n}\n",
            head + "#if canImport(UIKit)\nclass A: UIViewController {\n    @objc func a() {}\n}\n#endif\n"),
        Case(
            "a member and a statement",
            head
                + "class A {\n    var a: UIColor?\n    func f() {\n        g()\n        UIScreen.main.h()\n    }\n}\n",
            head
                + "class A {\n    #if canImport(UIKit)\n    var a: UIColor?\n    #endif\n    func f() {\n        g()\n"
                + "        #if canImport(UIKit)\n        UIScreen.main.h()\n        #endif\n    }\n}\n"),
        Case(
            "types of SwiftUI's, and of others by their prefix",
            "import HealthKit\nimport SwiftUI\nextension A {\n    var b: Color { .c }\n    func d() -> HKUnit { e }\n    var f: Int { 1 }\n}\n",
            "import Foundation\n#if canImport(HealthKit)\nimport HealthKit\n#endif\n#if canImport(SwiftUI)\nimport SwiftUI\n#endif\n"
                + "extension A {\n    #if canImport(SwiftUI)\n    var b: Color { .c }\n    #endif\n"
                + "    #if canImport(HealthKit)\n    func d() -> HKUnit { e }\n    #endif\n    var f: Int { 1 }\n}\n",
            "1: HealthKit does not exist on Linux"),
        Case(
            unchanged: "a word that is SwiftUI's elsewhere",
            "import CoreBluetooth\nstruct Color {}\nlet a: Color = Color()\n"),
        Case(
            unchanged: "a value that others need",
            head + "func f() {\n    let a = UIScreen.main.bounds\n    g(a)\n}\n",
            "6: this declaration uses a framework"),
    ]

    @Test("User interfaces", arguments: interfacesRows)
    func interfaces(row: Case) {
        // What is behind a condition already is known to be imported all the same.
        row.check()
    }

    @Test("A diff that patch takes")
    func diff() {
        let old = (1...12).map { "line \($0)\n" }.joined()
        let new = old.replacing("line 2\n", with: "two\n").replacing("line 12\n", with: "line 12\nline 13")
        #expect(
            unifiedDiff(old, new, path: "a.swift") == """
                --- a/a.swift
                +++ b/a.swift
                @@ -1,5 +1,5 @@
                 line 1
                -line 2
                +two
                 line 3
                 line 4
                 line 5
                @@ -10,3 +10,4 @@
                 line 10
                 line 11
                 line 12
                +line 13
                \\ No newline at end of file

                """)
        #expect(unifiedDiff(old, old, path: "a.swift") == "")
    }
}
