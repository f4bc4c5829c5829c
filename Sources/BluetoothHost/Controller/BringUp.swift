import BluetoothBase
import BluetoothHCI

/// The questions a controller is asked before it is used, in this order, and what has been learned so far.
struct BringUp: Sendable {
    enum Step: UInt8, CaseIterable, Sendable {
        case reset
        case readLocalVersionInformation
        case readLocalSupportedCommands
        case readLocalSupportedFeatures
        case readBDADDR
        case setEventMask
        case writeLEHostSupport
        case leSetEventMask
        case leReadLocalSupportedFeatures
        case leReadBufferSizeV2
        case leReadBufferSize
        case readBufferSize
        case leReadFilterAcceptListSize
        case leReadMaximumDataLength
        case leWriteSuggestedDefaultDataLength
        case leSetRandomAddress
    }

    enum State: Equatable, Sendable {
        case off
        case asking(Step)
        case up
        case failed
    }

    var state: State = .off
    /// Resets since the controller was last up: one that never gets there is given up.
    var attempts = 0
    /// Resets since the controller was last up for a while: one that fails again and again is given up.
    var failures = 0
    /// Since when the controller is up.
    var upSince: Instant?

    var version: ReadLocalVersionInformation.ReturnParameters?
    /// Until the controller has told, only what every LE controller must have is asked of it.
    var commands = SupportedCommands()
    var features: LEFeatures = []
    var hasClassicRadio = false
    var supportsLowEnergy = true
    var publicAddress = DeviceAddress(0, kind: .public)
    var aclDataLength = 0
    var aclBufferCount = 0
    var filterAcceptListSize = 0
    var maximumDataLength = LEDataLength(octets: 27, time: 328)

    static let maximumAttempts = 3
    static let maximumFailures = 5
    /// How long a controller must be up for its earlier failures to be forgiven.
    static let probation = Duration.seconds(10)

    /// Whether anything is expected of the controller.
    var isUnderWay: Bool {
        switch state {
        case .off, .failed: false
        case .asking, .up: true
        }
    }
}
