import CoreBluetooth
import Testing

@Suite("I: errors")
struct ErrorTests {
    /// A cast of whose outcome the compiler has no opinion: it is wrong about some.
    private func cast<Target>(_ error: any Error, to type: Target.Type) -> Target? { error as? Target }

    @Test("Row 84: an error casts to every type that applications check for")
    func casts() throws {
        let error: any Error = CBError(.connectionTimeout)
        #expect((error as? CBError)?.code == .connectionTimeout)
        #expect((error as? CBATTError) == nil)
        let bridged = try #require(cast(error, to: NSError.self))
        #expect(bridged.domain == "CBErrorDomain" && bridged.code == 6)
        #expect((error as NSError).code == 6)
        #expect(error.localizedDescription == "The connection has timed out unexpectedly.")
        #expect(bridged.localizedDescription == "The connection has timed out unexpectedly.")
        do { throw error } catch CBError.connectionTimeout {} catch { Issue.record("it was not caught by its code") }
        do { throw error } catch let error as CBError where error.code == .connectionTimeout {}
        do { throw error } catch let error as NSError { #expect(error.code == 6) }

        let refusal: any Error = CBATTError(.insufficientAuthentication)
        #expect((refusal as? CBATTError)?.code == .insufficientAuthentication)
        #expect((refusal as? CBError) == nil)
        #expect(cast(refusal, to: NSError.self)?.domain == "CBATTErrorDomain")
        #expect(refusal.localizedDescription == "Authentication is insufficient.")
        do { throw refusal } catch CBATTError.insufficientAuthentication {} catch {
            Issue.record("it was not caught by its code")
        }
    }

    @Test("Row 84: an `NSError` casts only to the error type of its domain")
    func bridging() {
        let error: any Error = NSError(domain: CBErrorDomain, code: 7, userInfo: [NSLocalizedDescriptionKey: "gone"])
        #expect((error as? CBError)?.code == .peripheralDisconnected)
        #expect((error as? CBError)?.localizedDescription == "gone")
        #expect((error as? CBATTError) == nil)
        let refusal: any Error = NSError(domain: CBATTErrorDomain, code: 0x80)
        #expect((refusal as? CBATTError)?.code.rawValue == 0x80)
        #expect((NSError(domain: "other", code: 7) as any Error as? CBError) == nil)
    }

    @Test(
        "Row 84: an error prints its domain, code, text and user info, whatever type it was cast to",
        arguments: [
            (
                CBATTError(.requestNotSupported) as any Error,
                "Error Domain=CBATTErrorDomain Code=6 \"The request is not supported.\" "
                    + "UserInfo={NSLocalizedDescription=The request is not supported.}"
            ),
            (
                CBError(.connectionTimeout),
                "Error Domain=CBErrorDomain Code=6 \"The connection has timed out unexpectedly.\" "
                    + "UserInfo={NSLocalizedDescription=The connection has timed out unexpectedly.}"
            ),
            (
                CBError(.unknown, userInfo: [NSLocalizedDescriptionKey: "gone", "B": 2, "A": "x"]),
                "Error Domain=CBErrorDomain Code=0 \"gone\" UserInfo={NSLocalizedDescription=gone, A=x, B=2}"
            ),
            (
                CBATTError(CBATTError.Code(rawValue: 0x82)!),
                "Error Domain=CBATTErrorDomain Code=130 \"Unknown ATT error.\" "
                    + "UserInfo={NSLocalizedDescription=Unknown ATT error.}"
            ),
        ])
    func printed(error: any Error, text: String) {
        var output = ""
        print(error, terminator: "", to: &output)
        #expect(output == text)
        #expect("\(error)" == text)
        #expect(String(describing: error) == text && String(reflecting: error) == text)
        let object = cast(error, to: NSError.self)
        #expect(object?.description == text)
        #expect(object.map { String(format: "%@", $0) } == text)
        #expect(text.contains("\"\(error.localizedDescription)\""))
    }

    @Test("An NSNumber is formatted with `%@` like any object")
    func number() {
        let rssi = NSNumber(value: -42)
        #expect(String(format: "%@ dBm", rssi as any CVarArg) == "-42 dBm")
    }

    @Test("Row 83: application error codes are valid codes")
    func applicationCodes() {
        let error = CBATTError(CBATTError.Code(rawValue: 0x82)!)
        #expect(error.errorCode == 0x82 && error.localizedDescription == "Unknown ATT error.")
    }

    @Test("Row 85: any number makes an error code, and codes compare by number", arguments: -2...300)
    func open(number: Int) {
        #expect(CBError.Code(rawValue: number)?.rawValue == number)
        #expect(CBATTError.Code(rawValue: number)?.rawValue == number)
        #expect(CBError.Code(rawValue: number) == CBError.Code(rawValue: number))
        #expect(CBError.Code(rawValue: number) != CBError.Code(rawValue: number + 1))
    }

    @Test("Each error code has the same number as on Apple's systems")
    func numbers() {
        let codes: [CBError.Code] = [
            .unknown, .invalidParameters, .invalidHandle, .notConnected, .outOfSpace, .operationCancelled,
            .connectionTimeout, .peripheralDisconnected, .uuidNotAllowed, .alreadyAdvertising, .connectionFailed,
            .connectionLimitReached, .unknownDevice, .operationNotSupported, .peerRemovedPairingInformation,
            .encryptionTimedOut, .tooManyLEPairedDevices, .leGattExceededBackgroundNotificationLimit,
            .leGattNearBackgroundNotificationLimit,
        ]
        #expect(codes.map(\.rawValue) == Array(0...18))
        let refusals: [CBATTError.Code] = [
            .success, .invalidHandle, .readNotPermitted, .writeNotPermitted, .invalidPdu, .insufficientAuthentication,
            .requestNotSupported, .invalidOffset, .insufficientAuthorization, .prepareQueueFull, .attributeNotFound,
            .attributeNotLong, .insufficientEncryptionKeySize, .invalidAttributeValueLength, .unlikelyError,
            .insufficientEncryption, .unsupportedGroupType, .insufficientResources,
        ]
        #expect(refusals.map(\.rawValue) == Array(0...17))
    }

    @Test("Errors can be stored in sets without bridging to `NSError`")
    func hashing() {
        #expect(Set([CBError(.unknown), CBError(.unknown), CBError(.notConnected)]).count == 2)
        #expect(Set([CBATTError(.success), CBATTError(.success)]).count == 1)
    }
}
