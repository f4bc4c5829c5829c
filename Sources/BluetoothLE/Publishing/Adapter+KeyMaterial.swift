import BluetoothAdapter
import BluetoothGATT
import BluetoothHost
import BluetoothValues
import Synchronization

extension Adapter {
    /// Requests from peers for this device's Encrypted Data Key Material, which decrypts its encrypted advertising
    /// data: to read it, or to be notified of changes. Only peers on authenticated links can ask (Core 5.4, Vol 3, Part
    /// C, 12.6). The material itself is in `HostConfiguration.genericAccess`.
    ///
    ///     for try await request in try await adapter.keyMaterialRequests() {
    ///         if trusted.contains(request.connection.peer) {
    ///             try await request.accept()
    ///         } else {
    ///             try await request.refuse()
    ///         }
    ///     }
    ///
    /// Requests are refused while no such sequence exists, and if they are not answered within 25 seconds. A second
    /// call ends the sequence of the first one.
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

    /// Changes the Encrypted Data Key Material, and indicates it to the peers that have subscribed to it.
    ///
    /// - Throws: `.invalidDefinition` if this device has none, see `GenericAccess.encryptedDataKeyMaterial`.
    public func setEncryptedDataKeyMaterial(_ material: EncryptedDataKeyMaterial) async throws(BluetoothError) {
        try await router.call(.setKeyMaterial(material.sessionKey + material.initializationVector))
    }
}
