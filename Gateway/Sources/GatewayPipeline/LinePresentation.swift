import BluetoothDocuments

extension Publication {
    /// The message as a line for display: the topic, whether it is retained, and the payload. The line cannot move a
    /// terminal's cursor.
    public var line: String {
        // JSON is already escaped, and the gateway's other payloads are plain words. Anything else is quoted.
        "\(topic)\(isRetained ? " (retained)" : "") \(String(decoding: payload, as: UTF8.self).shown)"
    }
}

extension String {
    /// The text in a form that is safe for a terminal: quoted and escaped if it contains characters that could move the
    /// cursor or reverse the direction of the line.
    public var shown: String {
        unicodeScalars.contains { $0.properties.isDangerous } ? JSONText.quoted(self) : self
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isDangerous: Bool {
        switch generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
