import Testing
import Varlink

/// What a client and a service say to each other, a message a line: `>` before the client's, `<` before the service's.
/// A last line `! violation` says that the service ends the connection there.
struct Transcript: CustomTestStringConvertible, Sendable {
    let name: String
    let calls: [String]
    let replies: [String]
    let isViolated: Bool

    init(_ name: String, _ text: String) {
        let lines = text.split(separator: "\n")
        self.name = name
        calls = lines.filter { $0.hasPrefix("> ") }.map { String($0.dropFirst(2)) }
        replies = lines.filter { $0.hasPrefix("< ") }.map { String($0.dropFirst(2)) }
        isViolated = lines.last?.hasPrefix("! ") == true
        precondition(calls.count + replies.count + (isViolated ? 1 : 0) == lines.count, "each line is one of these")
    }

    var testDescription: String { name }

    /// The bytes that the client sends.
    var input: [UInt8] { calls.flatMap { Array($0.utf8) + [0] } }

    /// What the service answers when the input comes in these pieces, and whether it ended the connection.
    func answers(to pieces: [[UInt8]]) -> (replies: [String], isViolated: Bool) {
        var session = EchoService.session()
        var output: [UInt8] = []
        var isViolated = false
        for piece in pieces {
            session.receive(piece)
            if EchoService.serve(&session) != nil { isViolated = true }
            output += session.takeUnsent()
        }
        return (messages(output), isViolated)
    }
}

extension Transcript {
    static let all = [
        Transcript(
            "introspection",
            #"""
            > {"method":"org.varlink.service.GetInfo"}
            < {"parameters":{"vendor":"Example","product":"Echo","version":"1","url":"https://example.org/echo","interfaces":["org.varlink.service","org.example.echo"]}}
            > {"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.example.echo"}}
            < {"parameters":{"description":"interface org.example.echo\nmethod Echo(text: ?string) -> (text: ?string)\nmethod Count(to: int) -> (number: int)\nerror Refused (reason: string)"}}
            > {"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.example.nothing"}}
            < {"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"org.example.nothing"}}
            > {"method":"org.varlink.service.GetInterfaceDescription"}
            < {"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"interface"}}
            > {"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":1}}
            < {"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"interface"}}
            > {"method":"org.varlink.service.GetInfo","parameters":{"verbose":true}}
            < {"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"verbose"}}
            """#
        ),
        Transcript(
            "a call and its reply, however the call is written",
            #"""
            > {"method":"org.example.echo.Echo","parameters":{"text":"hello"}}
            < {"parameters":{"text":"hello"}}
            > { "parameters" : { "text" : "hello" } , "method" : "org.example.echo.Echo" }
            < {"parameters":{"text":"hello"}}
            > {"method":"org.example.echo.\u0045cho","\u0070arameters":{"te\u0078t":"h\u0065llo"}}
            < {"parameters":{"text":"hello"}}
            > {"method":"org.example.echo.Count","method":"org.example.echo.Echo","parameters":1,"parameters":{"text":"last"}}
            < {"parameters":{"text":"last"}}
            """#
        ),
        Transcript(
            "no parameters, in three spellings",
            #"""
            > {"method":"org.example.echo.Echo"}
            < {}
            > {"method":"org.example.echo.Echo","parameters":null}
            < {}
            > {"method":"org.example.echo.Echo","parameters":{}}
            < {}
            > {"method":"org.example.echo.Echo","parameters":{"text":null}}
            < {}
            """#
        ),
        Transcript(
            "errors leave the connection alive",
            #"""
            > {"method":"org.example.nothing.Echo"}
            < {"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"org.example.nothing"}}
            > {"method":"org.example.echo.Nothing"}
            < {"error":"org.varlink.service.MethodNotFound","parameters":{"method":"org.example.echo.Nothing"}}
            > {"method":"org.example.echo.echo"}
            < {"error":"org.varlink.service.MethodNotFound","parameters":{"method":"org.example.echo.echo"}}
            > {"method":"org.varlink.service.Nothing"}
            < {"error":"org.varlink.service.MethodNotFound","parameters":{"method":"org.varlink.service.Nothing"}}
            > {"method":"Echo"}
            < {"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":""}}
            > {"method":""}
            < {"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":""}}
            > {"method":"org.example.echo.Echo.More"}
            < {"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"org.example.echo.Echo"}}
            > {"method":"org.example.echo.Echo","parameters":{"txet":"a"}}
            < {"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"txet"}}
            > {"method":"org.example.echo.Echo","parameters":{"text":1}}
            < {"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"text"}}
            > {"method":"org.example.echo.Echo","parameters":{"text":"refuse"}}
            < {"error":"org.example.echo.Refused","parameters":{"reason":"asked to"}}
            > {"method":"org.example.echo.Count","parameters":{"to":2}}
            < {"error":"org.varlink.service.ExpectedMore"}
            > {"method":"org.example.echo.Count","parameters":{"to":2.0},"more":true}
            < {"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"to"}}
            > {"method":"org.example.echo.Echo","parameters":{"text":"still here"}}
            < {"parameters":{"text":"still here"}}
            """#
        ),
        Transcript(
            "a stream comes before what was called after it",
            #"""
            > {"method":"org.example.echo.Count","parameters":{"to":3},"more":true}
            > {"method":"org.example.echo.Echo","parameters":{"text":"after"}}
            < {"parameters":{"number":1},"continues":true}
            < {"parameters":{"number":2},"continues":true}
            < {"parameters":{"number":3}}
            < {"parameters":{"text":"after"}}
            > {"method":"org.example.echo.Echo","parameters":{"text":"one reply"},"more":true}
            < {"parameters":{"text":"one reply"}}
            """#
        ),
        Transcript(
            "oneway is never answered, whatever becomes of it",
            #"""
            > {"method":"org.example.echo.Echo","parameters":{"text":"a"},"oneway":true}
            > {"method":"org.example.echo.Echo","parameters":{"text":"refuse"},"oneway":true}
            > {"method":"org.example.echo.Echo","parameters":{"wrong":1},"oneway":true}
            > {"method":"org.example.echo.Nothing","oneway":true}
            > {"method":"org.example.nothing.Echo","oneway":true}
            > {"method":"org.varlink.service.GetInfo","oneway":true}
            > {"method":"org.varlink.service.GetInterfaceDescription","oneway":true}
            > {"method":"org.example.echo.Echo","parameters":{"text":"b"}}
            < {"parameters":{"text":"b"}}
            """#
        ),
        Transcript(
            "upgrade is not implemented, and the connection stays what it was",
            #"""
            > {"method":"org.example.echo.Echo","upgrade":true}
            < {"error":"org.varlink.service.MethodNotImplemented","parameters":{"method":"org.example.echo.Echo"}}
            > {"method":"org.varlink.service.GetInfo","upgrade":true}
            < {"error":"org.varlink.service.MethodNotImplemented","parameters":{"method":"org.varlink.service.GetInfo"}}
            > {"method":"org.example.echo.Nothing","upgrade":true}
            < {"error":"org.varlink.service.MethodNotFound","parameters":{"method":"org.example.echo.Nothing"}}
            > {"method":"org.example.echo.Echo"}
            < {}
            """#
        ),
        Transcript(
            "flags that are false or null are no flags, and a vendor's fields are passed over",
            #"""
            > {"method":"org.example.echo.Echo","oneway":false,"more":false,"upgrade":false}
            < {}
            > {"method":"org.example.echo.Echo","oneway":null,"more":null,"upgrade":null}
            < {}
            > {"method":"org.example.echo.Echo","more":true,"oneway":false}
            < {}
            > {"method":"org.example.echo.Echo","more":1,"more":true}
            < {}
            > {"method":"org.example.echo.Echo","org.example":{"trace":[1,2]},"com.example.x":null,"a\u002eb":1}
            < {}
            """#
        ),
        Transcript(
            "what was answered before a violation is still answered, and nothing after it",
            #"""
            > {"method":"org.example.echo.Echo","parameters":{"text":"before"}}
            < {"parameters":{"text":"before"}}
            > {"parameters":{"text":"no method"}}
            > {"method":"org.example.echo.Echo","parameters":{"text":"after"}}
            ! violation
            """#
        ),
    ]
}
