import os.log

final class Journal {
    private let queue = DispatchQueue(label: "journal")
    private let log = OSLog(subsystem: "com.example.sensors", category: "journal")

    func write(_ line: String) {
        queue.async { os_log("%{public}@ at %f", log: self.log, type: .info, line, Date().timeIntervalSince1970) }
    }
}
