import Glibc

/// What happens at the n-th call, and at those after it.
enum FaultKind: String, CaseIterable {
    case errorOnce = "EIO once"
    case errorThenKill = "EIO once, then SIGKILL"
    case errorAfter = "EIO once, although it was done"
    case errorAfterThenKill = "EIO once, although it was done, then SIGKILL"
    case errorsFrom = "EIO from there on, then healed"
    case errorsToTheEnd = "EIO from there on, then SIGKILL"
    case fullOnce = "ENOSPC once"
    case fullFrom = "ENOSPC from there on, then healed"
    case busy = "EAGAIN five times"
    case killBefore = "SIGKILL before it"
    case killHalf = "SIGKILL after half of it"
    case killAfter = "SIGKILL after it"

    /// Whether it can happen at such a call: only a call that changes something can lack room, only a write can be done
    /// by half, only what changes something can be done and fail, and only a lock can be held by another process. A lock is left out if the daemon is starting, because a
    /// start is repeated.
    func isPossible(for letter: Character, in scenario: Scenario) -> Bool {
        switch self {
        case .fullOnce, .fullFrom: !"rql".contains(letter)
        case .killHalf: letter == "w"
        case .errorAfter, .errorAfterThenKill: "wsnud".contains(letter)
        case .busy: letter == "l" && !scenario.countsStart
        default: true
        }
    }

    var kills: Bool { [.killBefore, .killHalf, .killAfter].contains(self) }

    /// Whether the daemon is killed after its calls have failed, before it can recover.
    var killsAfterErrors: Bool { [.errorThenKill, .errorAfterThenKill, .errorsToTheEnd].contains(self) }

    /// Whether the daemon is killed as soon as a change is refused.
    var killsAtRefusal: Bool { killsAfterErrors && self != .errorsToTheEnd }

    func set(_ injection: FaultInjection, at number: Int) {
        switch self {
        case .errorOnce, .errorThenKill: injection.set(.errno(EIO), at: .only(number), of: .all)
        case .errorAfter, .errorAfterThenKill: injection.set(.errnoAfter(EIO), at: .only(number), of: .all)
        case .errorsFrom, .errorsToTheEnd: injection.set(.errno(EIO), at: .from(number), of: .all)
        case .fullOnce: injection.set(.errno(ENOSPC), at: .only(number), of: .all)
        case .fullFrom: injection.set(.errno(ENOSPC), at: .from(number), of: .all)
        case .busy: injection.set(.errno(EAGAIN), at: .these(number...number + 4), of: .all)
        case .killBefore: injection.set(.kill(.before), at: .only(number), of: .all)
        case .killHalf: injection.set(.kill(.afterHalf), at: .only(number), of: .all)
        case .killAfter: injection.set(.kill(.after), at: .only(number), of: .all)
        }
    }
}
