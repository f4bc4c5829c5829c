/// The default card.
enum BusinessCard {
    static let json = [UInt8](
        """
        {"name":"Ada Lovelace","title":"Analyst of Engines","organization":"Babbage & Company",\
        "email":"ada@example.org","url":"https://example.org/ada","note":"sent by Bluetooth LE"}
        """.utf8)
}
