import ArgumentParser
import BluetoothLE
import Testing

@testable import BluetoothCommandLine

/// The options about pairing.
struct PairingOptionsTests {
    private struct Silent: Terminal {
        let isInteractive: Bool
        func write(_ text: String) {}
        func ask(_ question: String) {}
        func withdrawQuestion() {}
        func discardTypeAhead() {}
        func readLine(_ receive: @escaping @Sendable (String?) -> Void) { receive(nil) }
    }

    @Test("The agent reports the end of a pairing only if the program does not", arguments: [true, false])
    func result(reportsEnd: Bool) throws {
        let prompt = TerminalPrompt(Silent(isInteractive: true))
        #expect(try AgentOptions.parse([]).agent(prompt, reportsEnd: reportsEnd).desk.reportsEnd == reportsEnd)
    }

    @Test(
        "--io sets the IO capability; without it, the terminal determines it",
        arguments: [
            (["--io", "none"], true, .noInputNoOutput), (["--io", "display"], false, .displayOnly),
            (["--io", "display-yes-no"], true, .displayYesNo), (["--io", "keyboard"], true, .keyboardOnly),
            (["--io", "keyboard-display"], false, .keyboardDisplay), ([], true, .keyboardDisplay),
            ([], false, .noInputNoOutput), (["--passkey", "042195"], false, .keyboardOnly),
            (["--passkey", "042195"], true, .keyboardOnly),
            (["--passkey", "042195", "--io", "keyboard-display"], false, .keyboardDisplay),
        ] as [([String], Bool, IOCapability)])
    func capability(arguments: [String], isTerminal: Bool, expected: IOCapability) throws {
        let agent = try AgentOptions.parse(arguments).agent(TerminalPrompt(Silent(isInteractive: isTerminal)))
        let shows = agent is any PasskeyDisplay, compares = agent is any NumberComparison
        let types = agent is any PasskeyEntry
        let capability: IOCapability =
            types
            ? (shows ? .keyboardDisplay : .keyboardOnly)
            : compares ? .displayYesNo : shows ? .displayOnly : .noInputNoOutput
        #expect(capability == expected)
    }

    @Test(
        "Invalid arguments are refused",
        arguments: [
            (["--pair", "--io", "screen"], "screen"), (["--pair", "--passkey", "12345"], "12345"),
            (["--accept"], "--pair"), (["--io", "none"], "--pair"), (["--passkey", "123456"], "--pair"),
            (["--authenticated"], "--pair"), (["--secure-connections"], "--pair"),
            (["--minimum-key-size", "7"], "--pair"), (["--pair", "--minimum-key-size", "6"], "from 7 to 16"),
            (["--pair", "--minimum-key-size", "17"], "from 7 to 16"),
        ])
    func usage(arguments: [String], mention: String) throws {
        let error = #expect(throws: (any Error).self) { try PairingOptions.parse(arguments) }
        #expect(PairingOptions.message(for: try #require(error)).contains(mention))
    }

    @Test(
        "The options set the adapter's requirements for every pairing",
        arguments: [
            ([], SecurityRequirement()), (["--authenticated"], SecurityRequirement(requiresAuthentication: true)),
            (["--secure-connections"], SecurityRequirement(requiresSecureConnections: true)),
            (["--minimum-key-size", "7"], SecurityRequirement(minimumKeySize: 7)),
            (["--replace-bonds"], SecurityRequirement(protectsBonds: false)),
        ] as [([String], SecurityRequirement)])
    func requirement(arguments: [String], expected: SecurityRequirement) throws {
        var host = HostConfiguration(seed: 1)
        host.security = .system
        try AgentOptions.parse(arguments).apply(to: &host)
        #expect(host.security?.policy.requirement == expected)
    }

    @Test("The protection of a link is summarized in a few words")
    func words() {
        #expect(LinkSecurity.unprotected.summary == "not encrypted")
        let security = LinkSecurity(
            isEncrypted: true, isAuthenticated: true, usesSecureConnections: true, encryptionKeySize: 16, isBonded: true
        )
        #expect(security.summary == "encrypted and authenticated, LE Secure Connections, 16 octets, bonded")
        let strength = KeyStrength(model: .justWorks, usesSecureConnections: false, keySize: 7)
        #expect(strength.summary == "just works, legacy pairing, 7 octets")
    }
}
