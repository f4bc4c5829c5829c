import BluetoothLE
import Synchronization

/// Asks the user questions, one after the other. Each answer is a line.
final class TerminalPrompt: Sendable {
    /// The meaning of a line that was typed.
    enum Reply<Answer: Sendable>: Sendable {
        case answer(Answer)
        /// The line is not an answer. The question is asked again, after the reason is shown.
        case nonsense(String)
    }

    private struct Question {
        let number: Int
        let peer: PeerID
        let text: String
        /// Handles a line. Returns the message to show if the line is not an answer.
        let take: @Sendable (String) -> String?
        let giveUp: @Sendable () -> Void
    }

    private struct State {
        /// The first one is displayed.
        var questions: [Question] = []
        var lastNumber = 0
        /// Whether a line is being read. A read cannot be cancelled, so the next question uses its result.
        var isReading = false
        var isAtEnd = false
    }

    private let terminal: any Terminal
    private let state = Mutex(State())

    init(_ terminal: any Terminal) { self.terminal = terminal }

    /// Whether a user is present to answer.
    var isInteractive: Bool { terminal.isInteractive && !state.withLock { $0.isAtEnd } }

    /// Writes a message on its own line.
    func say(_ line: String) { terminal.write(line + "\n") }

    /// Asks until there is an answer. Returns nil if the question was withdrawn, if the task was cancelled, or if
    /// nobody can answer, which is reported.
    func ask<Answer>(
        _ text: String, about peer: PeerID, _ parse: @escaping @Sendable (String) -> Reply<Answer>
    ) async -> Answer? {
        guard isInteractive else {
            refuse(peer)
            return nil
        }
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Answer?, Never>) in
                let question = Question(number: number, peer: peer, text: text) { line in
                    switch parse(line) {
                    case .answer(let answer): continuation.resume(returning: answer)
                    case .nonsense(let why): return why
                    }
                    return nil
                } giveUp: {
                    continuation.resume(returning: nil)
                }
                add(question)
                if Task.isCancelled { withdraw { $0.number == number } }
            }
        } onCancel: {
            withdraw { $0.number == number }
        }
    }

    /// Withdraws the questions about a peer.
    func withdraw(about peer: PeerID) { withdraw { $0.peer == peer } }

    // MARK: - Questions

    private func add(_ question: Question) {
        let isFirst = state.withLock { state in
            state.questions.append(question)
            return state.questions.count == 1
        }
        if isFirst { showNext() }
    }

    private func withdraw(_ isVoid: (Question) -> Bool) {
        let (void, isNext) = state.withLock { state in
            let void = state.questions.filter(isVoid)
            let wasShown = state.questions.first.map(isVoid) ?? false
            state.questions.removeAll(where: isVoid)
            return (void, wasShown)
        }
        for question in void { question.giveUp() }
        guard isNext else { return }
        terminal.withdrawQuestion()
        showNext()
    }

    /// Shows a question for the first time. What was typed before cannot be its answer.
    private func showNext() {
        guard state.withLock({ !$0.questions.isEmpty }) else { return }
        terminal.discardTypeAhead()
        showFirst()
    }

    private func showFirst() {
        guard let question = state.withLock({ $0.questions.first }) else { return }
        terminal.ask(question.text)
        let begins = state.withLock { state in
            defer { state.isReading = true }
            return !state.isReading
        }
        if begins { terminal.readLine { [weak self] line in self?.receive(line) } }
    }

    private func receive(_ line: String?) {
        let question = state.withLock { state in
            state.isReading = false
            state.isAtEnd = line == nil
            return state.questions.first
        }
        guard let line else { return end() }
        // Without a question, the line was typed for one that was withdrawn.
        guard let question else { return }
        if let why = question.take(line) {
            say(why)
            return showFirst()
        }
        state.withLock { state in state.questions.removeAll { $0.number == question.number } }
        showNext()
    }

    /// Ends all questions, because there is no more input.
    private func end() {
        let questions = state.withLock { state in
            defer { state.questions = [] }
            return state.questions
        }
        guard !questions.isEmpty else { return }
        terminal.withdrawQuestion()
        for question in questions {
            refuse(question.peer)
            question.giveUp()
        }
    }

    private func refuse(_ peer: PeerID) {
        say(
            "pairing with \(peer) is refused because nobody can answer: standard input is not a terminal; see --accept "
                + "and --passkey")
    }
}
