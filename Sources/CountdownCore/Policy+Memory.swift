/// What the daemon takes of memory at the most: every limit reached at once, by everybody.
///
/// The figures are those of the structures that hold things, rounded up, with what an array or a table has in reserve.
extension Policy {
    /// Bytes, of all that there can be.
    public var memoryCeiling: Int {
        processBytes + countdownsCeiling + endingsCeiling + ticksCeiling + connections * connectionCeiling
            + receivedCeiling + selectionBytesInAll + 4 * unsentBytesInAll
    }

    /// The program itself and the store's pages.
    private var processBytes: Int { 32 * 1_024 * 1_024 }

    /// A countdown with the longest key, without texts: its entry, extra, deadline and place in the index.
    private var countdownBytes: Int { 448 }

    /// Running and paused countdowns, with their labels and metadata.
    public var countdownsCeiling: Int { countdowns * countdownBytes + 2 * textBytesInAll }

    /// Ends with the longest label and metadata: the history, and the ends that are held for watches.
    public var endingsCeiling: Int {
        (history + 2 * endsHeldForWatches) * (countdownBytes + labelBytes + metadataBytes + 160 * metadataPairs)
    }

    /// The places on the wheels.
    public var ticksCeiling: Int { tickPlaces * 128 }

    /// What one connection holds besides what is counted in all: its state, and pages.
    public var connectionCeiling: Int { 4 * pageBytes + 8 * 1_024 }

    /// What was received, and what one peer adds before those who hold the most are disconnected.
    public var receivedCeiling: Int { receivedBytesInAll + 2 * (messageBytes + readBytesInTurn) }
}
