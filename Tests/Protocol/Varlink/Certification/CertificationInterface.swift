import Varlink

/// The interface `org.varlink.certification`, with which implementations of Varlink test each other.
enum CertificationInterface {
    static let name = "org.varlink.certification"

    static let service = ServiceDescription(
        vendor: "countdownd",
        product: "varlink-certification",
        version: "1",
        url: "https://varlink.org",
        interfaces: [
            InterfaceDescription(name: name, definition: definition, methods: Course.steps.map(\.method))
        ]
    )

    private static let definition = """
        # A client calls Start, Test01 to Test11 and End in this order, with what the call before has answered. Both
        # sides check all that they are told.
        interface org.varlink.certification

        type Interface (
          foo: ?[]?[string](foo, bar, baz),
          anon: (foo: bool, bar: bool)
        )

        type MyType (
          object: object,
          enum: (one, two, three),
          struct: (first: int, second: string),
          array: []string,
          dictionary: [string]string,
          stringset: [string](),
          nullable: ?string,
          nullable_array_struct: ?[](first: int, second: string),
          interface: Interface
        )

        method Start() -> (client_id: string)
        method Test01(client_id: string) -> (bool: bool)
        method Test02(client_id: string, bool: bool) -> (int: int)
        method Test03(client_id: string, int: int) -> (float: float)
        method Test04(client_id: string, float: float) -> (string: string)
        method Test05(client_id: string, string: string) -> (bool: bool, int: int, float: float, string: string)
        method Test06(client_id: string, bool: bool, int: int, float: float, string: string)
          -> (struct: (bool: bool, int: int, float: float, string: string))
        method Test07(client_id: string, struct: (bool: bool, int: int, float: float, string: string))
          -> (map: [string]string)
        method Test08(client_id: string, map: [string]string) -> (set: [string]())
        method Test09(client_id: string, set: [string]()) -> (mytype: MyType)

        # Called with more, it answers ten times.
        method Test10(client_id: string, mytype: MyType) -> (string: string)

        # Called with oneway.
        method Test11(client_id: string, last_more_replies: []string) -> ()

        method End(client_id: string) -> (all_ok: bool)

        # No certification under this name is in progress.
        error ClientIdError ()

        # A call is not the one that the course has at this place.
        error CertificationError (wants: object, got: object)

        """
}
