import BluetoothDocuments
import BluetoothLE
import BluetoothCommandLine

/// Surveys a connected device, and notes what it notifies.
struct DeviceRecording {
    /// Reads all that the device shows of its database.
    static func survey(_ connection: Connection) async throws -> DatabaseSurvey {
        let session = try await connection.openSession()
        var survey = DatabaseSurvey()
        var tag = 0
        guard let first = survey.operation else { return survey }
        await session.begin(first, as: tag)
        for try await event in session.events {
            guard case .ended(tag, let result) = event else { continue }
            switch result {
            case .success(let result): survey.take(.success(result))
            case .failure(.att(let error)): survey.take(.failure(error))
            case .failure(let error): throw error
            }
            guard let next = survey.operation else { return survey }
            tag += 1
            await session.begin(next, as: tag)
        }
        // The sequence ends by throwing.
        return survey
    }

    /// Subscribes to everything, and notes what comes.
    ///
    /// - Parameter time: for how long, from the last subscription on.
    /// - Returns: the document of the survey, with the notifications.
    static func record(
        _ connection: Connection, _ survey: DatabaseSurvey, for time: Seconds
    ) async throws -> DeviceDocument {
        let session = try await connection.openSession()
        let recording = Recording(survey)
        for (tag, subscribable) in survey.subscribable.enumerated() {
            await session.begin(
                .configure(descriptor: subscribable.descriptor, subscribable.configuration), as: tag)
        }
        do throws(BluetoothError) {
            try await waiting(for: "notifications", upTo: time) { () throws(BluetoothError) in
                try await withTimeout(time.duration) { () throws(BluetoothError) in
                    for try await event in session.events { await recording.take(event) }
                }
            }
        } catch {
            // The time is over.
            guard error == .timedOut else { throw error }
        }
        let (document, dropped) = await recording.result
        if dropped > 0 { say("ble: \(dropped) values came after the last that could be kept") }
        return document
    }

    /// What has come so far.
    private actor Recording {
        private let survey: DatabaseSurvey
        private var recorder = NotificationRecorder()
        private var refusals: [AttributeHandle: ATTErrorCode] = [:]
        private let origin = ContinuousClock.now

        init(_ survey: DatabaseSurvey) { self.survey = survey }

        func take(_ event: ClientEvent) {
            let now = Instant.zero.advanced(by: origin.duration(to: .now))
            switch event {
            case .value(let octets, let handle): recorder.received(octets, of: handle, at: now)
            case .ended(let tag, .success): recorder.subscribed(to: survey.subscribable[tag].value, at: now)
            case .ended(let tag, .failure(.att(let error))):
                refusals[survey.subscribable[tag].descriptor] = error.code
            case .ended, .mtuChanged: break
            }
        }

        var result: (DeviceDocument, dropped: Int) {
            var document = survey.document
            document.notifications = recorder.notifications
            document.refuseWrites(refusals)
            return (document, recorder.droppedCount)
        }
    }
}
