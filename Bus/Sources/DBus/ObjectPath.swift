/// A valid D-Bus object path.
package struct ObjectPath: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package static let root = ObjectPath(unchecked: "/")

    private init(unchecked text: String) { description = text }

    /// Whether the object is below another one.
    package func isBelow(_ other: ObjectPath) -> Bool {
        self != other && (other == .root || description.hasPrefix(other.description + "/"))
    }

    /// Checks a path: `/`, or elements of letters, digits and underscores, each after a `/`.
    package init?(_ text: String) {
        guard text != "/" else {
            self = .root
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var previous = UInt8(ascii: "a")
        for octet in text.utf8 {
            let isSeparator = octet == UInt8(ascii: "/")
            guard isSeparator ? previous != octet : Self.isElementOctet(octet) else { return nil }
            previous = octet
        }
        guard previous != UInt8(ascii: "/") else { return nil }
        description = text
    }

    /// Appends an element.
    ///
    /// - Precondition: the element consists of letters, digits and underscores, and is not empty. Elements must come
    ///   from this program, not from names of devices or clients.
    package func appending(_ element: String) -> ObjectPath {
        precondition(!element.isEmpty && element.utf8.allSatisfy(Self.isElementOctet), "malformed path element")
        return ObjectPath(unchecked: (self == .root ? "/" : description + "/") + element)
    }

    /// The path without its last element; nil for the root.
    package var parent: ObjectPath? {
        guard self != .root, let slash = description.lastIndex(of: "/") else { return nil }
        return slash == description.startIndex ? .root : ObjectPath(unchecked: String(description[..<slash]))
    }

    /// The last element; empty for the root.
    package var lastElement: Substring {
        description.lastIndex(of: "/").map { description[description.index(after: $0)...] } ?? ""
    }

    private static func isElementOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
