import Testing

@testable import Adaptation

/// A source, what becomes of it, and what is left to do.
struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let before: String
    let after: String
    let reasons: [String]

    /// - Parameter reasons: a line and how the reason begins, as in `3: there is no`.
    init(_ name: String, _ before: String, _ after: String, _ reasons: String...) {
        testDescription = name
        (self.before, self.after, self.reasons) = (before, after, reasons)
    }

    /// Nothing is changed.
    init(unchanged name: String, _ text: String, _ reasons: String...) {
        testDescription = name
        (before, after, self.reasons) = (text, text, reasons)
    }

    func check() {
        let result = Self.adapted(before)
        #expect(result.after == after)
        let found = result.findings.map { "\($0.line): \($0.reason)" }
        #expect(found.count == reasons.count, "\(found)")
        for (reason, expected) in zip(found, reasons) { #expect(reason.hasPrefix(expected)) }
        let again = Self.adapted(result.after)
        #expect(again.after == result.after, "a second time nothing is left to change")
    }

    static func adapted(_ text: String) -> AdaptedText {
        Adaptation.adapt([SourceText(path: "A.swift", text: text)])[0]
    }
}
