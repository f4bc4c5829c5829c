import BluetoothDocuments
import BluetoothLE
import BluetoothCommandLine
import Synchronization

/// Surveys a connected device, and records its notifications.
struct DeviceRecording {
    /// Reads everything that the device exposes of its database. On a terminal, the progress is shown.
    static func survey(_ connection: Connection, _ attempts: Attempts) async throws -> DatabaseSurvey {
        let progress = Mutex("the device's services")
        return try await waiting(for: { progress.withLock { $0 } }) {
            try await survey(connection, attempts) { survey in
                guard let text = progressText(survey) else { return }
                progress.withLock { $0 = text }
            }
        }
    }

    /// The progress of a survey, worded to follow "waiting for".
    static func progressText(_ survey: DatabaseSurvey) -> String? {
        survey.progress.map { "the device's values, \($0.done) of \(counted($0.total, "attribute")) read" }
            ?? (survey.attributeCount > 0
                ? "the device's services, \(counted(survey.attributeCount, "attribute")) found" : nil)
    }

    private static func survey(
        _ connection: Connection, _ attempts: Attempts, report: (borrowing DatabaseSurvey) -> Void
    ) async throws -> DatabaseSurvey {
        let session = try connection.openSession()
        var survey = DatabaseSurvey()
        var tag = 0
        while let operation = survey.operation {
            let current = tag
            let result = try await attempts.answer(of: connection) { () throws(BluetoothError) in
                session.begin(operation, as: current)
                for try await event in session.events {
                    if case .ended(current, let result) = event { return result }
                }
                // The sequence ends by throwing.
                throw .disconnected(.unknown)
            }
            switch result {
            case .success(let result): survey.take(.success(result))
            case .failure(let error):
                guard let refusal = error.attError else { throw error }
                survey.take(.failure(refusal))
            }
            report(survey)
            tag += 1
        }
        return survey
    }

    /// Subscribes to all characteristics, and records their values.
    ///
    /// - Parameter time: the duration of the recording, from when the device has answered the last subscription.
    /// - Returns: the document of the survey, with the notifications.
    static func record(
        _ connection: Connection, _ survey: DatabaseSurvey, for time: Seconds
    ) async throws -> DeviceDocument {
        let session = try connection.openSession()
        let subscribable = survey.subscribable
        let recording = Recording(subscribable)
        for (tag, item) in subscribable.enumerated() {
            session.begin(.configure(descriptor: item.descriptor, item.configuration), as: tag)
        }
        try await waiting(for: "the device to answer the subscriptions") { () throws(BluetoothError) in
            var remaining = subscribable.count
            guard remaining > 0 else { return }
            for try await event in session.events {
                await recording.take(event)
                if case .ended = event { remaining -= 1 }
                if remaining == 0 { return }
            }
        }
        do throws(BluetoothError) {
            try await waiting(for: "notifications", upTo: time) { () throws(BluetoothError) in
                try await withTimeout(time.duration) { () throws(BluetoothError) in
                    for try await event in session.events { await recording.take(event) }
                }
            }
        } catch {
            // The time is up.
            guard error == .timedOut else { throw error }
        }
        let dropped = await recording.droppedCount
        if dropped > 0 { say("ble: dropped \(counted(dropped, "value")) because the recording is full") }
        var document = survey.document
        document.notifications = await recording.notifications
        document.refuseWrites(await recording.refusals)
        return document
    }

    /// The notifications received so far.
    private actor Recording {
        /// The characteristics that are subscribed to; the tag of each subscription is its index.
        private let subscribable: [DatabaseSurvey.Subscribable]
        private var recorder = NotificationRecorder()
        /// The errors of the subscriptions that the device refused, by their descriptors.
        private(set) var refusals: [AttributeHandle: ATTErrorCode] = [:]
        private let origin = ContinuousClock.now

        init(_ subscribable: [DatabaseSurvey.Subscribable]) { self.subscribable = subscribable }

        func take(_ event: ClientEvent) {
            let now = Instant.zero.advanced(by: origin.duration(to: .now))
            switch event {
            case .value(let octets, let handle): recorder.received(octets, of: handle, at: now)
            case .ended(let tag, .success): recorder.subscribed(to: subscribable[tag].value, at: now)
            case .ended(let tag, .failure(let error)):
                refusals[subscribable[tag].descriptor] = error.attError?.code
            case .mtuChanged: break
            }
        }

        var notifications: [DeviceDocument.Notification] { recorder.notifications }
        var droppedCount: Int { recorder.droppedCount }
    }
}
