import BluetoothBase
import Dispatch
import Synchronization

extension VirtualRadio {
    /// Performs an action at an instant of the radio's time, or as soon as possible if the instant has passed.
    ///
    /// With `manual` time, actions run on the thread that advances the time, between the turns of hosts. Actions for
    /// the same instant run in the order in which they were scheduled.
    public func schedule(at instant: Instant, _ action: @escaping @Sendable () -> Void) {
        guard time == .manual else {
            let delay = max(0, now.duration(to: instant).nanoseconds)
            return DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(delay)), execute: action)
        }
        state.withLock { state in
            let place = state.actions.firstIndex { instant < $0.instant } ?? state.actions.endIndex
            state.actions.insert((instant, action), at: place)
        }
    }

    // MARK: - Weather

    /// Makes signals between the controllers fade from time to time, as drawn from a seed: see `AirWeather`. This
    /// replaces the current weather.
    public func setWeather(seed: UInt64) {
        clearWeather()
        let number = withAir(for: nil) { state, now in
            state.weather = AirWeather(seed: seed, at: now)
            return state.weatherNumber
        }
        runWeather(number)
    }

    /// Ends the weather: no signal fades any more.
    public func clearWeather() {
        withAir(for: nil) { state, now in
            state.weather?.clear(at: now, on: &state.air)
            state.weather = nil
            state.weatherNumber += 1
        }
    }

    private func runWeather(_ number: Int) {
        let next = withAir(for: nil) { state, now -> Instant? in
            guard state.weatherNumber == number else { return nil }
            _ = state.weather?.fire(at: now, on: &state.air)
            return state.weather?.nextDeadline
        }
        guard let next else { return }
        schedule(at: next) { [weak self] in self?.runWeather(number) }
    }
}

extension VirtualRadio.State {
    /// Removes and returns the next action that is due.
    mutating func takeAction() -> (@Sendable () -> Void)? {
        guard let first = actions.first, first.instant <= now else { return nil }
        return actions.removeFirst().perform
    }
}
