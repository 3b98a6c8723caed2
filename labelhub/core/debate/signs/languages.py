"""The words of orders in other languages: a language is a line of data.

Words are written as people write them, accents included, and compared without them. Verbs are
orders ("answer!"), not any form: reviews tell what people did.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """Words separated by ``|``.

    ``ignore`` are orders to forget, ``rules`` beginnings of what is to be forgotten, ``say`` orders
    to answer, ``only`` what such an order is narrowed with. ``verb_last``: the order comes at the
    end, so either may come first. ``blanks``: words stand apart.
    """

    ignore: str
    rules: str
    say: str
    only: str = ""
    verb_last: bool = False
    blanks: bool = True


LANGUAGES: dict[str, Language] = {
    "german": Language(
        "ignorier|ignoriere|ignorieren sie|missachte|missachten sie|vergiss|vergesst|vergessen sie"
        "|beachte nicht|beachten sie nicht|befolge nicht|befolgen sie nicht|übergehe|verwirf",
        "anweisung|vorgabe|regel|richtlinie|befehl|aufgabe|kontext|instruktion|prompt|definition"
        "|anleitung",
        "antworte|antworten sie|gib|geben sie|wähle|wählen sie|schreib|schreibe|schreiben sie"
        "|stufe|stufen sie|klassifiziere|klassifizieren sie|markiere|markieren sie|bewerte"
        "|bewerten sie|nenne|nimm|nehmen sie|sag|sage|entscheide|etikettiere|kennzeichne"
        "|ordne|setze|trage|vergib",
        "nur|ausschließlich|immer|stets|einzig",
    ),
    "french": Language(
        "ignore|ignorez|ignorer|oublie|oubliez|oublier|ne tiens pas compte|ne tenez pas compte"
        "|ne tenez aucun compte|ne suis pas|ne suivez pas|fais abstraction|faites abstraction"
        "|néglige|négligez",
        "instruction|consigne|règle|directive|ordre|définition|indication",
        "réponds|répondez|répondre|choisis|choisissez|choisir|écris|écrivez|dites|classe"
        "|classez|étiquette|étiquetez|marque|marquez|mets|mettez|donne|donnez|sélectionne"
        "|sélectionnez|indique|indiquez|notez|affiche|affichez"
        "|attribue|attribuez|considère|considérez|classer|mettre|sélectionner",
        "seulement|uniquement|toujours|simplement",
    ),
    "spanish": Language(
        "no tengas en cuenta|no tenga en cuenta|ignora|ignore|ignoren|ignorar|ignorad|olvida"
        "|olvide todas|olvide todo|olvide cualquier"
        "|olvídate de|olvídese de|no hagas caso"
        "|no haga caso|no sigas|no siga|descarta|descarte|pasa por alto|omite|omita",
        "instruccion|indicacion|regla|orden|directric|directiva|pauta|definicion|normas",
        "responde|responda|responder|contesta|conteste|elige|elija|elegir|escribe|escriba|diga"
        "|marca|marque|marcar|clasifica|clasifique|etiqueta|etiquete|selecciona|seleccione|pon"
        "|ponga|escoge|escoja|indica|imprime|devuelve"
        "|asigna|asigne|considera|considere|devuelva",
        "solo|sólo|únicamente|siempre|solamente",
    ),
    "portuguese": Language(
        "não leve em conta|não considere|ignore|ignora|ignorem|ignorar|esqueça|esquece"
        "|esqueçam|desconsidere|desconsidera"
        "|despreze|não siga|não sigas|descarte",
        "instruç|regra|orden|diretriz|diretiva|orientaç|definiç|comando|normas",
        "responda|responde|responder|escolha|escolhe|escreva|escreve|diga|marque|marca|marcar"
        "|classifique|classifica|rotule|selecione|seleciona|coloque|indique|imprima|retorne"
        "|atribua|considere",
        "só|somente|apenas|sempre|unicamente",
    ),
    "italian": Language(
        "non tenere conto|non tener conto|lascia perdere|ignora|ignorate|ignorare|ignori"
        "|dimentica|dimenticate|dimenticati di|non seguire|trascura"
        "|tralascia|non considerare|scarta",
        "istruzion|regol|ordin|direttiv|indicazion|definizion|comand|linee guida",
        "rispondi|rispondete|risponda|rispondere|scegli|scegliete|scelga|scrivi|scrivete|di'|dica"
        "|segna|etichetta|classifica|classificate|seleziona|indica|stampa|restituisci|metti"
        "|assegna|considera|inserisci",
        "solo|soltanto|sempre|solamente|unicamente",
    ),
    "dutch": Language(
        "negeer|negeert|negeren|vergeet|sla over|volg niet|let niet op|laat varen",
        "instructie|regel|richtlijn|opdracht|aanwijzing|voorschrift|definitie|prompt",
        "antwoord|antwoordt|geef|kies|kiest|schrijf|zeg|markeer|classificeer|beoordeel"
        "|selecteer|noteer|druk af"
        "|vul in|geef aan|typ",
        "alleen|uitsluitend|enkel|altijd|slechts",
    ),
    "polish": Language(
        "zignoruj|ignoruj|zignorujcie|ignorujcie|zapomnij|zapomnijcie|pomiń|pomińcie|nie stosuj"
        "|nie czytaj|nie zważaj|odrzuć|porzuć",
        "instrukcj|poleceni|polecen|zasad|reguł|wytyczn|wskazów|rozkaz|definicj",
        "odpowiedz|odpowiedzcie|odpowiadaj|wybierz|wybierzcie|napisz|zapisz|powiedz|oznacz"
        "|zaznacz|sklasyfikuj|oceń|podaj|wypisz|zwróć|wskaż"
        "|wpisz|uznaj|przyznaj|przypisz",
        "tylko|wyłącznie|zawsze|jedynie",
    ),
    "czech": Language(
        "ignoruj|ignorujte|zapomeň|zapomeňte|přehlédni|přehlížej|nedbej|nedbejte|neřiď se"
        "|neřiďte se|pomiň|pomiňte|vynech",
        "pokyn|instrukc|pravid|příkaz|směrnic|zadání|definic",
        "odpověz|odpovězte|odpovídej|vyber|vyberte|zvol|zvolte|napiš|napište|řekni|řekněte|označ"
        "|označte|klasifikuj|ohodnoť|uveď|uveďte|vypiš|vrať|zapiš"
        "|přiřaď|považuj|dej",
        "jen|pouze|vždy|jenom|výhradně",
    ),
    "romanian": Language(
        "ignoră|ignorați|ignora|uită|uitați|nu ține cont|nu țineți cont|nu urma|nu respecta",
        "instrucțiun|regul|indicați|ordin|directiv|comenz|comand|definiți|cerinț",
        "răspunde|răspundeți|răspunzi|alege|alegeți|scrie|scrieți|spune|spuneți|marchează"
        "|marcați|clasifică|clasificați|etichetează|selectează|indică|afișează"
        "|pune|puneți|alegeți|atribuie|consideră|să alegeți",
        "doar|numai|mereu|întotdeauna|exclusiv",
    ),
    "swedish": Language(
        "ignorera|glöm|bortse från|strunta i|följ inte|hoppa över|åsidosätt",
        "instruktion|regl|regel|anvisning|riktlinj|order|uppgift|definition|direktiv",
        "svara|välj|skriv|säg|märk|markera|klassificera|klassa|ange|sätt|bedöm|returnera"
        "|tilldela|mata in",
        "bara|endast|alltid|enbart",
    ),
    "indonesian": Language(
        "abaikan|lupakan|hiraukan|jangan ikuti|jangan pedulikan|kesampingkan|acuhkan",
        "instruksi|aturan|perintah|arahan|petunjuk|pedoman|ketentuan|definisi",
        "jawab|jawablah|pilih|pilihlah|tulis|tulislah|katakan|tandai|labeli|klasifikasikan"
        "|berikan|keluarkan|cetak|balas|sebutkan"
        "|beri|anggap|isi|masukkan",
        "hanya|selalu|saja|cukup",
    ),
    "turkish": Language(
        "yok say|yok sayın|yoksay|unut|unutun|görmezden gel|görmezden gelin|dikkate alma"
        "|dikkate almayın|önemseme|boş ver|göz ardı et|göz ardı edin|uyma|uymayın",
        "talimat|kural|yönerge|komut|emir|emri|yönlendirme|tanım",
        "yaz|yazın|yanıtla|yanıtlayın|cevapla|cevaplayın|cevap ver|cevap verin|cevabını ver|seç"
        "|seçin|söyle|söyleyin|işaretle|işaretleyin|etiketle|deyin|sınıflandır|yanıt ver"
        "|seçiniz|yazınız|kabul et",
        "",
        verb_last=True,
    ),
    "vietnamese": Language(
        "bỏ qua|phớt lờ|hãy quên|quên đi|quên hết|quên mọi|quên các|quên tất cả|không làm theo"
        "|đừng làm theo|đừng tuân theo|làm ngơ|gạt bỏ"
        "|không tuân theo",
        "hướng dẫn|chỉ dẫn|chỉ thị|quy tắc|lệnh|yêu cầu|quy định|định nghĩa",
        "trả lời|chọn|ghi|hãy viết|viết từ|gán nhãn|gán là|đánh dấu|gắn nhãn|phân loại|hãy nói"
        "|in ra|xem như|coi như|coi là",
        "",
    ),
    "russian": Language(
        "игнорируй|игнорируйте|проигнорируй|проигнорируйте|забудь|забудьте|не обращай|не обращайте"
        "|пренебреги|отбрось|не следуй|не следуйте|отмени|пропусти",
        "инструкци|указани|правил|приказ|команд|директив|предписани|определени|задани",
        "ответь|ответьте|отвечай|отвечайте|выбери|выберите|выбирай|напиши|напишите|пиши|скажи"
        "|скажите|говори|отметь|отметьте|пометь|пометьте|классифицируй|выведи|выведите|укажи"
        "|поставь|поставьте|оцени|оцените|верни|назови"
        "|считай|считайте|впиши|впишите|присвой|дай|дайте|отнеси",
        "только|всегда|лишь|исключительно",
    ),
    "ukrainian": Language(
        "ігноруй|ігноруйте|проігноруй|проігноруйте|забудь|забудьте|не зважай|не зважайте|відкинь"
        "|не дотримуйся|знехтуй",
        "інструкці|вказів|правил|наказ|команд|директив|визначен|настанов|завдан",
        "відповідай|відповідайте|дай відповідь|відповідь|обери|оберіть|вибери|виберіть|напиши"
        "|напишіть|скажи|скажіть|познач|позначте|класифікуй|виведи|вкажи|постав|оціни|назви"
        "|вважай|впиши|став|дай",
        "тільки|лише|завжди|виключно",
    ),
    "greek": Language(
        "αγνόησε|αγνοήστε|ξέχασε|ξεχάστε|παράβλεψε|παραβλέψτε|μην ακολουθείς|μην ακολουθήσεις"
        "|μη λάβεις|αψήφησε",
        "οδηγί|κανόν|εντολ|κατευθυντήρι|ορισμ|προτροπ",
        "απάντησε|απαντήστε|απάντα|γράψε|γράψτε|διάλεξε|διαλέξτε|επίλεξε|επιλέξτε|πες|πείτε"
        "|σημείωσε|σημειώστε|ταξινόμησε|χαρακτήρισε|δώσε|δώστε|τύπωσε"
        "|βάλε|βάλτε|θεώρησε|θεωρήστε|όρισε",
        "μόνο|πάντα|αποκλειστικά",
    ),
    "korean": Language(
        "무시|잊어|잊고|따르지 마|따르지마|신경 쓰지|무효|버리고",
        "지시|명령|규칙|지침|프롬프트|안내|설명|정의",
        "답하|답해|대답|출력|선택|고르|골라|말하|말해|쓰세요|써라|써 주"
        "|적으|적어|표시|분류|응답|라벨"
        "|하세요",
        "",
        verb_last=True,
        blanks=False,
    ),
    "japanese": Language(
        "無視し|無視せよ|無視。|忘れて|忘れろ|忘れなさい|忘れよ|従わない|破棄|無効",
        "指示|命令|ルール|規則|プロンプト|ガイドライン|説明|定義|指令",
        "答え|回答|出力|選ん|選び|選択|言っ|言い|書い|書き|返し|返答|ラベル|分類|付け|つけ"
        "|つける|判定|入力",
        "",
        verb_last=True,
        blanks=False,
    ),
    "chinese": Language(
        "忽略|无视|忽視|無視|忘记|忘掉|忘了|不要理会|别管|不用管|抛开|不要遵守|不要遵循|忘記",
        "指令|指示|说明|說明|规则|規則|提示|要求|命令|准则|定义|指南|规定|任务",
        "回答|输出|輸出|回复|选择|选|選擇|標記|标记|标为|标注|标成|填写|写|說|说|判定|判为|归为|打上|给出|请用"
        "|归类|视为|填|打",
        "只|仅|僅|必须|必須",
        blanks=False,
    ),
    "arabic": Language(
        "تجاهل|تجاهلوا|انس|انسى|انسَ|لا تتبع|أهمل|اهمل|تغاضى|لا تلتزم",
        "تعليمات|قواعد|أوامر|إرشادات|ارشادات|توجيهات|تعريف",
        "أجب|اجب|أجيبوا|اكتب|اختر|اختار|قل|رد|صنف|ضع|حدد|اطبع|أخرج|علم|اعتبر|اختيار|أدخل|سجل",
        "فقط|دائما",
        blanks=False,
    ),
    "hebrew": Language(
        "התעלם|התעלמי|התעלמו|שכח|שכחי|שכחו|תתעלם|תתעלמו|תשכח|אל תציית|אל תפעל|זנח",
        "הוראות|הוראה|כללים|כלל|הנחיות|הנחיה|הגדר|פקוד",
        "ענה|עני|ענו|תענה|בחר|בחרי|תבחר|כתוב|כתבי|תכתוב|אמור|תגיד|השב|סמן|תסמן|סווג|תייג|הדפס"
        "|קבע|הזן|תן|רשום",
        "רק|תמיד|אך ורק",
        blanks=False,
    ),
    "farsi": Language(
        "نادیده بگیر|فراموش کن|بی‌توجه|توجه نکن|پیروی نکن|کنار بگذار|رعایت نکن",
        "دستور|قوانین|قانون|قواعد|راهنما|تعلیمات|تعریف",
        "پاسخ|جواب|بنویس|انتخاب|بگو|برگزین|علامت|برچسب|چاپ|بزن|بده|ثبت",
        "",
        verb_last=True,
        blanks=False,
    ),
    "hindi": Language(
        "अनदेखा|अनदेखी|नज़रअंदाज़|नजरअंदाज|भूल जाओ|भूल जाएं|भूल जाइए|भूलकर|उपेक्षा|मत मानो|ध्यान न",
        "निर्देश|नियम|आदेश|हिदायत|परिभाषा|आज्ञा",
        "उत्तर|जवाब|लिखो|लिखें|लिखिए|चुनो|चुनें|चुनिए|बोलो|बोलें|कहो|कहना|लिखना|चुनना|कहें"
        "|बताओ|बताएं|दो|दें|लेबल|मानो|मानें|डालो",
        "",
        verb_last=True,
        blanks=False,
    ),
    "thai": Language(
        "ละเว้น|เพิกเฉย|ลืม|ไม่ต้องสนใจ|อย่าทำตาม|ข้าม|มองข้าม|ไม่ต้องทำตาม|ยกเลิก",
        "คำสั่ง|กฎ|คำแนะนำ|ข้อกำหนด|แนวทาง|คำชี้แจง|นิยาม",
        "ตอบ|เลือก|เขียน|พิมพ์|บอก|ระบุ|ติดป้าย|จัดเป็น|พูด|ให้เป็น|ใส่|กรอก",
        "",
        blanks=False,
    ),
}
