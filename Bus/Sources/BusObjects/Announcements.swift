import DBus

/// The changes of an object that have not been announced yet.
struct ObjectChange {
    var added: [String] = []
    var removed: [String] = []
    /// Whether the object is gone with the last of the removed interfaces.
    var isGone = false
    /// Changed properties, each once.
    private(set) var changed: [ChangedProperty] = []

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }

    struct ChangedProperty: Equatable {
        let interface: InterfaceDeclaration
        let index: Int

        static func == (left: Self, right: Self) -> Bool {
            left.interface === right.interface && left.index == right.index
        }
    }

    mutating func add(_ interface: String) {
        added.append(interface)
        isGone = false
    }

    mutating func remove(_ interface: String, isLast: Bool) {
        changed.removeAll { $0.interface.name == interface }
        // Nobody has heard of it.
        if let index = added.firstIndex(of: interface) {
            added.remove(at: index)
        } else {
            removed.append(interface)
            isGone = isLast
        }
    }

    mutating func change(_ property: ChangedProperty) {
        if !changed.contains(property) { changed.append(property) }
    }
}

/// The objects with changes, in the order in which they first changed.
struct Announcements {
    private var order: [ObjectTree.Node] = []
    private var next = 0

    /// Puts an object that is about to change in line.
    mutating func expectChange(of node: ObjectTree.Node) {
        if node.change.isEmpty { order.append(node) }
    }

    /// Takes the changes of the object that changed first.
    mutating func takeFirst() -> (ObjectTree.Node, ObjectChange)? {
        while next < order.count {
            let node = order[next]
            next += 1
            guard !node.change.isEmpty else { continue }
            let change = node.change
            node.change = ObjectChange()
            return (node, change)
        }
        order.removeAll(keepingCapacity: true)
        next = 0
        return nil
    }
}
