import BluetoothPlatform

/// A writer in a process of its own, and what it has said.
struct Writer {
    private(set) var done: [Change] = []
    /// Begun, and not known to be done.
    private(set) var pending: Change?

    private let process: pid_t
    private let pipe: Int32
    private var rest: [UInt8] = []

    init(_ directory: String, lane: Int, from first: UInt32) throws {
        var ends: [Int32] = [0, 0]
        guard BluetoothPlatform.pipe(&ends) == 0 else { throw KillingRun.Wrong(description: "no pipe can be made") }
        // Or the writers would hold each other's pipes open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            close(ends[1])
        }
        let words = ["bond-writer", "write", directory, "\(lane)", "\(first)"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        guard posix_spawn(&process, "/proc/self/exe", &actions, nil, &arguments, environ) == 0 else {
            close(ends[0])
            throw KillingRun.Wrong(description: "no process can be started")
        }
        self.process = process
        pipe = ends[0]
    }

    /// Reads what it says until it has done so many changes.
    mutating func awaitChanges(_ count: Int) throws {
        while done.count < count {
            guard try read() else { throw KillingRun.Wrong(description: "a writer has ended by itself") }
        }
    }

    /// Kills it, and reads what it has said before that.
    mutating func kill() throws {
        BluetoothPlatform.kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        while try read() {}
        close(pipe)
    }

    /// Returns false at the end.
    private mutating func read() throws -> Bool {
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = BluetoothPlatform.read(pipe, &piece, piece.count)
        guard count > 0 else { return false }
        rest += piece.prefix(count)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest.removeFirst(end + 1)
            try take(line)
        }
        return true
    }

    private mutating func take(_ line: String) throws {
        let words = line.split(separator: " ")
        switch words.first {
        case "b":
            guard words.count == 3, let peer = UInt32(words[1]), let sequence = UInt32(words[2]) else { break }
            pending = Change(peer: peer, sequence: sequence)
            return
        case "e":
            if let pending { done.append(pending) }
            pending = nil
            return
        default: break
        }
        throw KillingRun.Wrong(description: "a writer says: \(line)")
    }
}
