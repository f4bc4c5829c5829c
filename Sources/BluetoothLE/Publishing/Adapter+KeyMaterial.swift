import BluetoothAdapter
import BluetoothGATT
import BluetoothHost
import BluetoothValues
import Synchronization

extension Adapter {
    /// Requests of peers for this device's Encrypted Data Key Material, with which they can read its encrypted advertising data, or
    /// to be told when it changes. Only peers on authenticated links ask (Core 5.4, Vol 3, Part C, 12.6). The material itself is
    /// in `HostConfiguration.genericAccess`.
    ///
    ///     for try await request in try await adapter.keyMaterialRequests() {
    ///         if trusted.contains(request.connection.peer) {
    ///             try await request.allow()
    ///         } else {
    ///             try await request.refuse()
    ///         }
    ///     }
    ///
    /// Requests are refused while nobody iterates, and those that are not answered after 25 seconds. A second call takes the place
    /// of the first, whose sequence ends.
    public func keyMaterialRequests() async throws(BluetoothError) -> EventSequence<IncomingAuthorization> {
        let queue = AsyncQueue<IncomingAuthorization>(capacity: 256, overflow: .dropNewest)
        let former = router.state.withLock { state in
            defer { state.keyMaterialRequests = queue }
            return state.keyMaterialRequests
        }
        former?.finish()
        let requests = EventSequence(queue) { [weak router] in
            let isLast = router?.state.withLock { state in
                guard state.keyMaterialRequests === queue else { return false }
                state.keyMaterialRequests = nil
                return true
            }
            if isLast == true { router?.post(.answerKeyMaterialRequests(false)) }
        }
        try await router.call(.answerKeyMaterialRequests(true))
        return requests
    }

    /// Changes the Encrypted Data Key Material, and tells the peers that have subscribed to it.
    ///
    /// - Throws: `.invalidDefinition` on a device that has none, see `GenericAccess.encryptedDataKeyMaterial`.
    public func setEncryptedDataKeyMaterial(_ material: EncryptedDataKeyMaterial) async throws(BluetoothError) {
        try await router.call(.setKeyMaterial(material.sessionKey + material.initializationVector))
    }
}
