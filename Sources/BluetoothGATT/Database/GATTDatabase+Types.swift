import BluetoothATT
import BluetoothBase

// Finding attributes by type, and services by their UUID, without a look at the others.

extension GATTDatabase {
    /// The type of the attribute in a row.
    @inline(__always)
    func typeUUID(at index: Int) -> BluetoothUUID { typeUUIDs[Int(rows[index].type)] }

    /// The attributes of a type, ascending.
    func handles(ofType uuid: BluetoothUUID) -> [AttributeHandle] {
        typeIndex(of: uuid).map { typeHandles[Int($0)] } ?? []
    }

    /// The attributes of a type that may have a value, ascending: all of the type, but of primary services only those
    /// with the UUID that the value is.
    func candidates(ofType type: UInt16, value: Span<UInt8>) -> [AttributeHandle] {
        let uuid = BluetoothUUID(type)
        guard uuid == .primaryService else { return handles(ofType: uuid) }
        return GATTDatabase.serviceUUID(value).flatMap { primaryServices[$0] } ?? []
    }
}

extension [AttributeHandle] {
    /// The index of the first handle that is not below `start`, in an ascending list.
    func position(from start: AttributeHandle) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low &+ high) / 2
            if self[middle] < start { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    /// Puts a handle into an ascending list that does not have it.
    mutating func insertInOrder(_ handle: AttributeHandle) {
        // Most services go behind all others.
        if let last, last > handle { insert(handle, at: position(from: handle)) } else { append(handle) }
    }

    /// Takes the handles of a range out of an ascending list.
    mutating func removeAll(in handles: ClosedRange<AttributeHandle>) {
        let start = position(from: handles.lowerBound)
        var end = start
        while end < count, self[end] <= handles.upperBound { end &+= 1 }
        removeSubrange(start..<end)
    }
}
