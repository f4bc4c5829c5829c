import BluetoothBase
import BluetoothSMP

/// Random inputs, and what another implementation makes of them: the functions of Bumble, and for signatures CMAC of
/// Python's cryptography package over the reversed octets of message and counter.
enum OtherImplementation {
    static let ah: [(k: UInt128, r: UInt32, hash: UInt32)] = [
        (0xf185cc99b974fcfedf5708c61f12c479, 0x46ac90, 0xa703e6),
        (0x5feab0e6331e86ce6cfe708e72dfbcc8, 0xc9985d, 0xddf9b7),
        (0x08d4bcb9ea44d0a4ad2ae66fd9415e87, 0xde6ccc, 0x75eee2),
        (0xce5779ee6b91fa5dc23e9030d78e4752, 0x465d4f, 0xce6e32),
        (0x6fec6e7cc73c2c9372278fdb3b28a4f5, 0xd054b2, 0xc1771a),
        (0x6a09e87ca87df0088ddad923a0f7751c, 0xcf79d5, 0xb49c19),
    ]

    static let c1:
        [(k: UInt128, r: UInt128, preq: UInt64, pres: UInt64, ia: DeviceAddress, ra: DeviceAddress, confirm: UInt128)] =
            [
                (
                    0x8ba50397661e30d41a1a980d0e47c413, 0xf595ebbc1dc6c5ec02b3e963026bf7f1, 0xc676f274f41752,
                    0x6c153769adf901, DeviceAddress(0x92e6a2a39033, kind: .public),
                    DeviceAddress(0xf889a4cda19a, kind: .random), 0x3d1fdd1dfdc892745950b54c67cc9c7b
                ),
                (
                    0x3b0b83e4736fd74d2f267772daad053c, 0x48e586f4a368621fb37f383f3a0815ee, 0xb027cf0a675a94,
                    0x4443d705760ce9, DeviceAddress(0xff098cc89bc3, kind: .random),
                    DeviceAddress(0xe1e83f7d5a17, kind: .random), 0xaaf3350eb0ed8abb54441c3780865040
                ),
                (
                    0x6d455548939ab28901ab1b7bebf86b5f, 0x478e2a59cfb562018ee19483edde7749, 0x74d4dbf997fd24,
                    0xb5ef5ae2442b22, DeviceAddress(0xb266b35321da, kind: .random),
                    DeviceAddress(0xdb20baf4c952, kind: .random), 0x1b3d1370273e996a74c2e096490bc722
                ),
                (
                    0xacef112fb734f7050ded360630768270, 0x2d7fcbbdf03b39e013e4f37d0efafa4e, 0xca64a99202179a,
                    0x045c3ef34e21b8, DeviceAddress(0x1361e49b0b2b, kind: .public),
                    DeviceAddress(0x223943594b77, kind: .public), 0x609aedbf09cc6bb577da2590901cf90e
                ),
                (
                    0x49dc5a68a10961e123196ff78c835cca, 0xbdb1150b291d814897c896242243ee8a, 0x538294fc1d37a1,
                    0x5d9c2d0943f1e1, DeviceAddress(0xf68797b6a8f9, kind: .random),
                    DeviceAddress(0xb807403fd20b, kind: .public), 0x9b5ce81ba0e87b0ab7497ea2bffb9795
                ),
                (
                    0x439beb568b65e15e78bfeab82f7b917d, 0x57a1eda23816e2eb0e22bcf0aae5c073, 0x8a45c99ec9b842,
                    0xac017ccc535071, DeviceAddress(0x4e4434460e6b, kind: .public),
                    DeviceAddress(0x241622b028f2, kind: .random), 0x90a8acdea36bdf3e2b0fb496c5b50034
                ),
            ]

    static let s1: [(k: UInt128, r1: UInt128, r2: UInt128, key: UInt128)] = [
        (
            0xa510f8693bcea2ea162f497dac082c03, 0x66bd5df2f2bc08aaf1939f3a4c1c6588, 0x51586f479b3194ffeb623a80281b9556,
            0x8c848ff583b0c0f0f2acc07ce202cdb3
        ),
        (
            0xb5281e97d8a250566fa32a4dde704879, 0x6bb1c78c4a67ec586292a747cc5ff5b9, 0x7a7a2e34719afe9fe2258033e5e7e94a,
            0x73b332e051309de84be00b59409cf149
        ),
        (
            0x5baede9592792f7103814ab9431cc73d, 0x29505e72a89a23963b7db51605947f3a, 0xc6f6b6a899d876e76e7fe985f0d0c1b3,
            0x194cd7b247de48f73be81170b0eb78ee
        ),
        (
            0x7bb03da8b2a733a5e98d3bf9b5fec267, 0x32ff47314a5919fd5c32793835092d89, 0x180b74c4c980f7703eb2c2e9fe8ebec8,
            0x637fd7c576e50d3736ba204e528b33f1
        ),
        (
            0x4543727031c42904d196ff2dc66a6ce2, 0x62f3c129952ad84ec20e4c51d7825448, 0x76a16b33a0ec2a4e340b75e3de201631,
            0xb4a041088cfc78a09a87a9b9d60f77f1
        ),
        (
            0x5706f50ce39a381d7fddcb755bcd8fb5, 0x230f4c676c5af48dc07740987a0bb5c1, 0x2891c2eb2e762b2f521a7514c5c4f177,
            0xea3932877d01455dde7f651145c1bfc0
        ),
    ]

    static let f4: [(u: FieldElement, v: FieldElement, x: UInt128, z: UInt8, confirm: UInt128)] = [
        (
            FieldElement("fba5a69530c353a6975e11161557b77da90d308dc870c4501bf62ca080593446"),
            FieldElement("720fdac72c80dd65bffb12823de689a37ff2cfc3e6ae8bb347b881afb4a2298c"),
            0xd72c998c094de7bd1dfecaad987102a9, 0xd5, 0x3f343178d7ef4d5f59607902ede1d2f1
        ),
        (
            FieldElement("c6d95bce50629c09edd6410a55f8b9d4b2ca65636fba68f9952f727517115f06"),
            FieldElement("525971f5a9e7fdf2d754a7b8bb5bd91b284747cf31b434bd69b698b7680aa680"),
            0xeb3d550286a0af9d0177a8a0e740e6b5, 0x91, 0x528fd65502ab509a506bd4d99c543eb5
        ),
        (
            FieldElement("5fdf89074560756c4c3b0f2214bed43355e4dacbd596e4086b8809bd6fe921e7"),
            FieldElement("7cdfcc8ae0484f87a7908b4260cda669ddca45d161ff3d6271083a8323d1d0fd"),
            0xa307bdfd6d9ff8bddad6a1b4c2774d71, 0x30, 0xf19e7ad4e9d770900217ddfe3ad131aa
        ),
        (
            FieldElement("e191267222ee3c914fe04577b396fd8e6f5ac9fb92591f607bb554f56ddfd0ed"),
            FieldElement("b64246c2d9f96e3a1216f219d0b0273b56b428aac1ddf960058523d390bac001"),
            0xad37a4623c6ad02b65a728b52f6c2b4e, 0x9b, 0xb2a8ccd16cce7c34c4ebac64efd0327a
        ),
        (
            FieldElement("e875b64357f82f39b954473f6a60d0278f7f889bf539a176b93fc803d4d1e683"),
            FieldElement("85704b6a166a38f3f92fddb8e41df256689d69616a1e548174d9d5a9ef0e487d"),
            0x7b899dbc5670a2c99ecd370be402bbdf, 0x69, 0x99cb75339b8a3044733f3e94ea7c9b7c
        ),
        (
            FieldElement("5da2aeb6804e0b5a8e359c53c9f355beef11cd667e02d0daed0b09d6f58cb989"),
            FieldElement("3497d0a4c3df18f82f824a3d572ba21cc3e1bbc27b49e43362cfec91a842ee4b"),
            0x584458845c63bdc10ee2e894d536ce27, 0x71, 0x3671bb6e7f3a6573ae2bac2c40c6e57b
        ),
    ]

    static let f5:
        [(
            w: FieldElement, n1: UInt128, n2: UInt128, a1: DeviceAddress, a2: DeviceAddress, macKey: UInt128,
            key: UInt128
        )] = [
            (
                FieldElement("80df5606bc357e1e159009baf5587afff432d676118650149288653616bfa32c"),
                0xa453446949ff3eda07b70cdc5c19a545, 0x72788588755bb6d328e3ebc15eafbb17,
                DeviceAddress(0x0fba7287d3e1, kind: .random), DeviceAddress(0xd85ee9b4124e, kind: .random),
                0x5c67491fce735c7dca5d83d44218ac7e, 0x48ae4b84329d910a56d52d63b24d6ba6
            ),
            (
                FieldElement("13e54314735132e5000be1e894470f7577604e7d435a46e38c53b0b56b1ea5be"),
                0x1c5a4652624b941d1d7fca78a6dd256e, 0x7e52bb3585366cf9771bec15e4e3662f,
                DeviceAddress(0x383e6755ab91, kind: .public), DeviceAddress(0x3e5f3a7d5b64, kind: .public),
                0x0dffe643cc98ec23f55055849f2b500b, 0x2a77e28ea308cfe75ee36cb9fb8c2122
            ),
            (
                FieldElement("203da47aea5964de5b7e38a23ada8627481de294bd13df9322f6b0e396e2a2c9"),
                0xb68a2813e1f3cf8a45e163e6faded8b0, 0x8568417327ee12ddbbaa82cbd5317bfc,
                DeviceAddress(0x312b64b2e757, kind: .public), DeviceAddress(0x1b0b341b313b, kind: .random),
                0xe16d031c34fef48e77efa268b3b67b5c, 0x98a6d1f3bc84109f62dcb43570a7f21d
            ),
            (
                FieldElement("4db16e108975e598df28bef9a7c46814c6323ea8d5e5c19ee1b85803898d560d"),
                0x3cb46b0fd448bb3eb4da71d5ef5da18f, 0xc939451c41d5133babdaa2c71081ec44,
                DeviceAddress(0x2ebce16618a3, kind: .public), DeviceAddress(0x9f9378d6c935, kind: .public),
                0xf956515af52c8a3ec0370b22da0adc8d, 0x6c3428b0e5f3c458afc86c837342e4c5
            ),
            (
                FieldElement("1877826ff23ce57dbfa96660575d775ccda381c79ddd00c7bd84c3a0617551ce"),
                0x0961726114bda80ac70b8c35024e679d, 0xb84b81d6a3da5dd917e3c0870ed692bb,
                DeviceAddress(0x40fd64beab55, kind: .public), DeviceAddress(0xcd1dd97be180, kind: .random),
                0xf3e1e9350f8e53c88e5dc11422886868, 0xd647a3552e5d48c5018c011e7c9b8b30
            ),
            (
                FieldElement("de0e64a588c8224713080085187df9fd4c2730425f347fd3821f0fc50503bc7f"),
                0x3a12194b5b9817f6e43b39532b7cf99d, 0x0e43a11c2d1b8a96aa83746a69a86de0,
                DeviceAddress(0xccfbcabece08, kind: .public), DeviceAddress(0x9447b95745c5, kind: .random),
                0xa44b082e9526fbf70dfc729db911046b, 0xc468994491ffc82efb42fcfbd6c82d06
            ),
        ]

    static let f6:
        [(
            w: UInt128, n1: UInt128, n2: UInt128, r: UInt128, ioCap: UInt32, a1: DeviceAddress, a2: DeviceAddress,
            check: UInt128
        )] = [
            (
                0xadcffcfa517446450a504dca12b9d97a, 0x1f0e99bf15096ac8598b61e041937ccd,
                0x9d531541de6e4bbedba6fae8daceb559, 0xd0481fcd6947161d5e2f7a4fd6d3a821, 0x43e17e,
                DeviceAddress(0x82821f3f5042, kind: .public), DeviceAddress(0xa687242b8268, kind: .public),
                0x57ddf948b7b13e0265e4218c324cb94e
            ),
            (
                0xb164e1f437b9ebcef618922551c83075, 0xb51c04827c0b662f24314bfd01599120,
                0xa353d02d37a1795db87945bac605e2ed, 0xc24aedb974b0aa2bdc80729e9a087f92, 0x5877b6,
                DeviceAddress(0x2a4aa7e8bfb4, kind: .random), DeviceAddress(0x243f5830bcfe, kind: .public),
                0xced003b7dadcd18431097006c13cda58
            ),
            (
                0x9652f90c778dbd0a17b7b71df6dfdf2d, 0xd8de6729bfff16b2642223ea660a1a79,
                0x1c7e7d86b0db3d3dedc898783c02d1f7, 0x9741995cf3ff0ff94294d0f5e30b76f5, 0x0f4150,
                DeviceAddress(0x6b14211c325f, kind: .public), DeviceAddress(0x30a0b385d63d, kind: .random),
                0x8095857ab75f6f63aaa6b15a9e018262
            ),
            (
                0xac26d81c1c4e6f12cfaca2be47bc6f1c, 0x652023ad71419cd352e15ab57a99e8ed,
                0xddf1192d1fbdaca423b6a5692cb2e629, 0x33de4ebe006e6392e2cc3070d0aabcd2, 0xc5a24d,
                DeviceAddress(0x4f3d00a2d727, kind: .public), DeviceAddress(0xaa8ef2a78cb1, kind: .random),
                0xbc84cf4ebabfa4bd72970e277753d497
            ),
            (
                0x5fdc9697206738efc05d196781e5b881, 0x6c8015f3e17cd9af37d60afccf1f07df,
                0xdce5a4014eb3314d4f0cb382737e4f36, 0x2842a07d02ea6c40bcb6a45691232f5d, 0xfcb18e,
                DeviceAddress(0xbd15ea0c8ba9, kind: .random), DeviceAddress(0x3a1a7794d189, kind: .random),
                0x21c3ce2b60ee6c257bb7cbb9fe1d8b74
            ),
            (
                0xea02ce37d5b5abafb4a3ded9ea108f30, 0x7f71b94aea8e23b94eee34920d0da2ba,
                0x6a8590425d9b81281f7291f93852ee74, 0x8e135b8a61844a7b90ad1b93a5eccfbf, 0xc48ca3,
                DeviceAddress(0x153aae61b23f, kind: .public), DeviceAddress(0xfe0db45de0a3, kind: .public),
                0xa4f0093756569ffa7a17eaab6f3c8c7e
            ),
        ]

    static let g2: [(u: FieldElement, v: FieldElement, x: UInt128, y: UInt128, number: UInt32)] = [
        (
            FieldElement("dea688e189e07457ece63622487399652c1850600fc5cb0915514ddd144d827f"),
            FieldElement("5e48319d4dd585affb9eb6dd77b1bab2dcd02c1fae487c619774884533ca35c6"),
            0x5e65cedca3a736fa761136145e21286f, 0x20d6c5d39197e76505f45f89d7c1984b, 0x7a39a1fb
        ),
        (
            FieldElement("3f952edd76e2756dbbe066bf31bef09674fefe748dd4de718afa10f2cf4058d4"),
            FieldElement("075dc88af92cf260557087b2f05b1f046f61b0db30cd239f72aa2436ad5eb299"),
            0x2aba3c47b721c6f53b93c31127b23af1, 0x822d6db67bd75a7da01ce7c9c917046e, 0x3eb78807
        ),
        (
            FieldElement("627f151efebc754c05386a679f66308f13ea440ff3111ca228f3d4ec0fd3991f"),
            FieldElement("dbfc555b8df7c27a6fa56fa69f6b9df522104b64456d9e312ce02cd2d2ec731d"),
            0xce61f800ee0621599ab8bac09010d5ed, 0xde7526dc535d5ba1b0a397d11c1f0b92, 0x036ab0aa
        ),
        (
            FieldElement("404623901a7c2937cbd458a60c608777b1ed18f98cfa0a50736af7c65d71107d"),
            FieldElement("6cce6ec370d897dba82433500d997ae60c449ad8569950ec71acd7005b246c03"),
            0xb134b9105e12fc7cd376b2cab8435fb0, 0x1507d0ece4014705ce82d94a5d9dba70, 0x33ac960d
        ),
        (
            FieldElement("91447ce15d5e727e12b9faa1d4a6d224ebb68a7bc01c3d6b138167c5e8d55ce1"),
            FieldElement("1de85df6f55871ff20c1438472a238216febb772fe23aaef1871dfde8b3eda54"),
            0x5ac15b556c3b4e43bcec78c579d70513, 0xf20ab61cc3f806e126b7cb9360508912, 0x51f17119
        ),
        (
            FieldElement("7eb5eaea2f2f195a36f00e2692597d4f590c857cebaca33f96985db133ec2566"),
            FieldElement("ea42486f6b345abf50241700e7dacbacfc8f15fd8eb613647373358b4fc1f74d"),
            0x3fdce8debe3af7eeb5e71c7f6b6ac1ac, 0x474d38584efe761024794b0c98524e54, 0xaed75a32
        ),
    ]

    static let h: [(w: UInt128, keyID: UInt32, salt: UInt128, h6: UInt128, h7: UInt128)] = [
        (
            0x580a5bdcc0545a748f9f1f0579aea56e, 0x1010e148, 0x6a37d697fcee762a819052d2b0fcacb2,
            0xefa2527191814ff928a44293daf6f02b, 0x6bc344a91dfa88b5a58c7a43bccefee0
        ),
        (
            0x6783ee92bd92f0280195528c7e5d459f, 0x0a013bb4, 0x3f80c18118bd7c0c93bf25d91c221219,
            0xc646dabb5226d9f52f4531b4a5ceb7d3, 0x3f8aaffb378585fed273b14305f35fe3
        ),
        (
            0x9b75eddd10cb43167d8762987f8552c9, 0xf9293137, 0x7cc31adcddc0f5d719480ec53bd916d0,
            0xf31aed06e00298044b8f4f5d261bf61a, 0x2dca90aa2806b243f4403fdb3d5469fe
        ),
        (
            0x9881a49ed72dcb5d1bb8fb225f29f5d3, 0x6d50bea7, 0x5feb319166a894df7101a8ae58db9988,
            0x0dbffe98bdb3964cfdc2964e596ba61e, 0xa8d4b13244ae4a7152c3eb6796bd44a1
        ),
        (
            0xde23efa15ffa9b3e5079d86a7b9d7cc4, 0x7ec999c4, 0xbe41d5339b0762f944071374ae39cfe8,
            0x9c365c38086d7540e4812db35fe643b1, 0xa4aa31f8c952ae864b37866831528f60
        ),
        (
            0xf38f0bf2a12c54c41ee566ac78a24f2c, 0x2819c7b0, 0x5c68e80013a9186b394af781e9517383,
            0x514e476d905d6f1f9b46d8f65d1bb806, 0x7eec1eede7534ce5d2223d6a598f91e1
        ),
    ]

    static let signatures: [(key: UInt128, message: String, counter: UInt32, signature: UInt64)] = [
        (0x97ff4fb9a0ceccc5159af0a143be0173, "", 0xb320da2f, 0x9758d26381bd0cfc),
        (0x3ab3434124d666dd246c5eebd61aceb3, "27", 0x2e9ca6c2, 0x40c519729d2d68b2),
        (0x75c91cb2582b165cb37b9c96097838f9, "6c0abf", 0x4dc97dca, 0x9a3f19c49ed77ee2),
        (0x4e78e1af42fe1bf0635a0d66382da602, "1d312fe95037533d58057dbba7fc9977e3", 0x1b68bda1, 0x3c7ff3c25db474e4),
        (
            0xa90f9abd7b66131e1d48f687bacda286,
            "aaa5edfddd280c1ca7b99c70df78c7dc4478faf2c1c2e20e0004d3c1f9aa33953abf6471e58a8882390b143332f438d71f9ca4bd2be05a51062b37e1",
            0x999e814d, 0xe17492df8b47a5f2
        ),
        (
            0x1f1134f5b7847b7bcecf454da8239936,
            "37749951c35fe3916ae71655ad8209f404906420befb4eda1c2f9ff5721c7c096e8b05eed64bc3a8c028a5def22ff29f5ecdb72e1fa8cc2c25150d38a87e66e404ffddd92e8eed28976202190d5ef0658039250c65dde0b477b96711fab3c6c2c2e3e72e04d8be4a1e45bbe3d6fe49ecade21dca2aa83e872c111b101ad2d08dd5d1d74141d5555989dd12f0dc3172072563238632cb326da21753b6d00d82b09439b694a7692af675ce653196cbe499b82a9b0523f4a6035b036107ac55659ed59f9d860e482442a3bfad8c9a00d4714fccb209eab3c7d3ffaf0301d8b986201949b53f3fa6ba1d68134a02c4eb94b59548e9f2",
            0x27b635c8, 0xe09eee9b7d70c5bd
        ),
    ]
}
