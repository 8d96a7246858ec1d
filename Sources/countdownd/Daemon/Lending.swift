/// Lends a property of the daemon to a question.
///
/// To read such a property would copy it, which takes a reference to each array in it and gives it back; to lend it takes
/// nothing.
@inline(__always)
func lend<Value, Answer, Failure: Error>(
    _ value: inout Value,
    _ question: (inout Value) throws(Failure) -> Answer
) throws(Failure) -> Answer {
    try question(&value)
}
