import BluetoothBase

extension ATTBearer {
    /// The ATT_MTU before an exchange, which is also the minimum (Core 5.4, Vol 3, Part G, 5.2.1).
    @inlinable public static var defaultMTU: Int { 23 }

    /// The minimum MTU of a credit-based channel that carries ATT (Vol 3, Part G, 5.3.1).
    @inlinable public static var minimumEnhancedMTU: Int { 64 }

    /// The minimum MTU of a channel over BR/EDR that carries ATT (Vol 3, Part G, 5.1.1).
    @inlinable public static var minimumBREDRMTU: Int { 48 }

    /// Whether ATT_EXCHANGE_MTU_REQ may be used. If not, a server refuses it with Request Not Supported (Vol 3, Part F,
    /// 3.4.2.1).
    @inlinable
    public var allowsMTUExchange: Bool { kind == .unenhanced }

    /// Applies the receive MTUs of both sides: the ATT_MTU becomes the smaller one, but at least 23 (Vol 3, Part F,
    /// 3.4.2.2).
    ///
    /// A client calls this when it has received the response, a server when it has sent the response. Only the first
    /// exchange counts: each side must state the same MTU in both roles, so a second one cannot change anything.
    /// - Returns: Whether these values determined `mtu`.
    @discardableResult
    public mutating func exchangeMTU(clientRxMTU: UInt16, serverRxMTU: UInt16) -> Bool {
        guard allowsMTUExchange, !isMTUExchanged else { return false }
        isMTUExchanged = true
        mtu = max(Self.defaultMTU, Int(min(clientRxMTU, serverRxMTU)))
        return true
    }

    /// Records that the MTU of an enhanced channel was reconfigured, which can only increase it (Vol 3, Part A, 4.27).
    /// It has no effect on other bearers.
    public mutating func channelMTUChanged(to channelMTU: Int) {
        guard kind == .enhanced else { return }
        mtu = max(mtu, channelMTU)
    }

    /// The number of octets of value that fit after the fixed fields of a PDU; 0 for a PDU without a value. For a list,
    /// the value is that of a list with one element.
    @inlinable
    public func maximumValueLength(of opcode: ATTOpcode) -> Int {
        switch opcode {
        case .readResponse, .readBlobResponse, .readMultipleResponse: mtu &- 1
        case .writeRequest, .writeCommand, .handleValueNotification, .handleValueIndication,
            .readMultipleVariableResponse:
            mtu &- 3
        case .prepareWriteRequest, .prepareWriteResponse, .multipleHandleValueNotification: mtu &- 5
        case .findByTypeValueRequest: mtu &- 7
        case .signedWriteCommand: mtu &- 3 &- SignedWriteCommand.signatureLength
        // The element's length field has one octet, so no element is longer than 255 octets.
        case .readByTypeResponse: min(mtu &- 4, 253)
        case .readByGroupTypeResponse: min(mtu &- 6, 251)
        case .errorResponse, .exchangeMTURequest, .exchangeMTUResponse, .findInformationRequest,
            .findInformationResponse, .findByTypeValueResponse, .readByTypeRequest, .readRequest, .readBlobRequest,
            .readMultipleRequest, .readByGroupTypeRequest, .writeResponse, .executeWriteRequest,
            .executeWriteResponse, .handleValueConfirmation, .readMultipleVariableRequest:
            0
        }
    }
}
