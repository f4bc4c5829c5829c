/// The maximum cost of one operation, and the minimum speed relative to Bumble. Nil means that there is no limit.
struct Limits {
    var instructions: Int?
    var mallocs: Double?
    /// Voluntary context switches.
    var switches: Double?
    /// Our operations per second, divided by Bumble's.
    var ratio: Double?
}

extension Subject {
    var required: Limits {
        switch (kind, face) {
        case (.notification, .async): Limits(instructions: 3500, mallocs: 1)
        case (.notification, .delegate): Limits(instructions: 3100, mallocs: 1, switches: 0.1, ratio: 6)
        case (.write, .async), (.notify, .async), (.notifySingly, .async): Limits(instructions: 4500, ratio: 4)
        case (.write, .delegate): Limits(instructions: 5000, ratio: 3)
        case (.notify, .delegate): Limits(instructions: 6500, ratio: 3)
        case (.notifySingly, .delegate): Limits(instructions: 6000, ratio: 3)
        case (.read, .async): Limits(instructions: 16500)
        case (.read, .delegate): Limits(instructions: 16500, mallocs: 5, switches: 4)
        case (.report, .async): Limits(instructions: 4000 + (scans - 1) * 1250)
        case (.report, .delegate): Limits(instructions: 4600 + (scans - 1) * 1050)
        case (.channelWrite, .async): Limits(instructions: 5300)
        case (.channelWrite, .delegate): Limits(instructions: 6600)
        case (.channelRead, .async): Limits(instructions: 3800)
        case (.channelRead, .delegate): Limits(instructions: 4400)
        }
    }

    var aim: Limits {
        switch (kind, face) {
        case (.notification, .async): Limits(instructions: 2500)
        case (.notification, .delegate): Limits(instructions: 2000, ratio: 9)
        case (.write, .async), (.notify, .async), (.notifySingly, .async): Limits(instructions: 2500, ratio: 8)
        case (.write, .delegate), (.notify, .delegate), (.notifySingly, .delegate):
            Limits(instructions: 3000, ratio: 5)
        case (.read, .async): Limits(instructions: 10000)
        case (.read, .delegate): Limits(instructions: 10000, mallocs: 2, switches: 2)
        case (.report, _): Limits(instructions: 3000 + (scans - 1) * 500)
        case (.channelWrite, _), (.channelRead, _): Limits(instructions: 3072)
        }
    }
}

extension Limits: CustomStringConvertible {
    var description: String {
        let parts = [
            instructions.map { "≤ \($0) instructions" },
            mallocs.map { "≤ \(decimal($0, 0)) \($0 == 1 ? "malloc" : "mallocs")" },
            switches.map { "≤ \(decimal($0, 1)) switches" }, ratio.map { "≥ \(decimal($0, 0)) × Bumble" },
        ]
        let text = parts.compactMap(\.self).joined(separator: ", ")
        return text.isEmpty ? "-" : text
    }
}
