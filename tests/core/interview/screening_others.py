"""Messages of each kind in German, Spanish, French, Japanese and Arabic, for the same tests."""

PROBES = {
    ("de", "request"): """
Winterjacke für Kinder|Laufschuhe Größe 42|Ein Zelt für zwei unter 150 Euro, bitte|Neue Schuhe
Schwarzer Rucksack|Kopfhörer mit Bluetooth|Kaffeemaschine bis 200 Euro
Geschenk für meinen Vater|Doppelzimmer mit Balkon|Hotel in Wien mit Frühstück
Zug nach Köln morgen früh|Was kostet der Versand?|Ich suche ein Sofa|die App stürzt ab
meine Bestellung ist nicht da|Könnt ihr das umtauschen|Rezept für Kürbissuppe
leise Spülmaschine|Öffnungszeiten|vegane Schuhe, Größe 39|Rotes Kleid|Regenhose Damen
danke, aber die Farbe ist falsch|ja, aber in Blau bitte|einen Tisch für vier Personen bitte
günstigeres Modell bitte|Smartphone mit guter Kamera|Fahrradhelm gesucht
Kinderwagen mit großen Rädern|Wanderschuhe wasserdicht|ein Zimmer mit Meerblick, bitte
Ersatzteile für Waschmaschine|Küchenmesser als Set|Elektrischer Wasserkocher
Bettwäsche aus Leinen|hallo, habt ihr auch Gutscheine|wie lange dauert die Lieferung
Damen Wanderrucksack|Blaue Jeans|Gartenstühle|Sonnencreme für Babys|Suppe ohne Fleisch bitte
Flug nach Athen|mein Konto ist gesperrt|wie kündige ich|Handtücher bitte
Schreibtischlampe mit Dimmer|Was ist Photosynthese|Schreib mir ein Gedicht|zu laut nebenan
gebrauchtes Auto unter 5000|etwas Warmes zum Anziehen|ein Ladekabel für mein Handy
Katzenfutter|Ladekabel fürs Auto|ist es wasserdicht|passt das in Größe M|kommt mit Ladegerät?
mir ist das zu teuer|ich fühle mich allein|das Essen war kalt|wo ist mein Geld
Geburtstagskuchen|Erste Hilfe Set|Wochenendreise nach Paris|Kinder Fahrrad|Sommerkleid
""",
    ("de", "greeting"): """
Hallöchen|Guten Taaag|Moin moin!|hallo 👋|hi zusammen|Servus|Grüß Gott|na wie gehts|huhu
Guten Abend|Hey, alles klar?|tach|halloooo|guten morgen bot|hi du|wie läuft's so
Grüezi mitenand|moinsen|schönen guten Tag|hi|Hallo!|halli hallo|guten Tag zusammen
wie geht es dir heute|hallo wie geht's dir|Guten Mooorgen|hey na
""",
    ("de", "thanks"): """
Dankeee|vielen lieben Dank|danke dir|tausend Dank|merci|Danke, das hilft mir sehr|super, danke
danke für die Info|das war sehr hilfreich|herzlichen Dank|ok danke
Danke für deine schnelle Antwort|dankee schön|besten Dank auch|danke für alles
perfekt, vielen Dank|lieb von dir|danke euch|ich bin dir sehr dankbar|danke!|danke sehr
vielen dank für alles|super danke dir|danke für den Tipp|Dankeschön|danke, hat geklappt
ich danke dir
""",
    ("de", "goodbye"): """
Tschüssi|tschüüüss|bis dann|auf Wiedersehen|ciao|schönes Wochenende|gute Nacht|mach's gut
bis morgen|ich muss los|danke, tschüss|bis bald|man sieht sich|tschau|schönen Abend noch
bis später dann|ade|ich bin dann mal weg|ok tschüss|wiederhören|tschüss!|bye|bis nächste Woche
schlaf gut|schönen Feierabend|ich geh jetzt|danke und tschüss|bis zum nächsten Mal
""",
    ("de", "spam"): """
Sie haben gewonnen! Jetzt Preis abholen: www.gewinn.example
Verdienen Sie 5000 Euro im Monat von zu Hause! Jetzt anmelden
Bitcoin verdoppeln in 24h, schreib mir auf Telegram
Sofortkredit ohne Schufa, jetzt beantragen unter www.kredit.example
Heiße Singles in deiner Nähe warten auf dich! Klick hier|asdfasdf jklö
Billige Viagra ohne Rezept bestellen|Nur heute 80% Rabatt auf alles!!! www.sale.example
Ihr Konto wurde gesperrt, bitte bestätigen Sie Ihre Daten: http://bank.example
Online Casino 200 Freispiele sichern|hhhhhhhhhhh
Kaufe Follower für Instagram ab 5 Euro, jetzt bestellen
Gewinne ein iPhone, jetzt mitmachen www.win.example
Schnell reich mit Bitcoin, jetzt registrieren|Kredit ohne Schufa in 5 Minuten
Ihr Paket wartet, Zollgebühr zahlen unter http://dhl.example|fffffffffff
Potenzmittel rezeptfrei online
""",
    ("de", "bare_reply"): """
ja|nee|jo passt|das zweite|42|um 18 Uhr|morgen|keine ahnung|weiß nicht|ok dann|na gut
vielleicht später|2 Erwachsene|am Montag|Hans Müller|egal|stimmt|genau das|ja bitte|nein danke
das blaue|gegen 9|ich glaube schon|nicht wirklich|alles klar|jawohl|nö|das letzte|jein
hab ich schon|von Montag bis Freitag|weder noch|drei Nächte|ja klar|kann sein|mir egal
am 5. Mai|ne, lieber nicht|richtig|das rote|Ja.|nein|ok|Dienstag|um halb drei|zwei Personen
die rote|egal was|weiß ich nicht|Lukas Weber|nächste Woche|eher nicht|kommt drauf an|drei
das erste bitte|beide|hm|passt
""",
    ("es", "request"): """
zapatillas para correr talla 42|Una tienda para dos por menos de 150, por favor|Zapatos Nuevos
chaqueta de invierno para niños|regalo para mi padre|auriculares inalámbricos baratos
hotel en Sevilla con piscina|mi pedido no ha llegado|¿hacen envíos a Canarias?
la app no funciona|receta de gazpacho|vestido rojo|Mochila Negra
billete de tren a Valencia para mañana|sí, pero en azul|gracias, pero no funciona
una mesa para cuatro, por favor|portátil para diseño|horario de apertura
política de devoluciones|cafetera de menos de 100 euros|botas de montaña impermeables
un cuarto con vista al mar por favor|Sofá Cama|crema para piel seca|bicicleta para niña
cuánto tarda el envío|hola, tienen cargadores|móvil con buena cámara|silla de oficina cómoda
quiero cambiar mi reserva|vaqueros azules|Lámpara de mesa|silla de jardín barata
sopa sin carne, por favor|vuelo a Atenas|mi cuenta está bloqueada|cómo cancelo
toallas por favor|qué es la fotosíntesis|escríbeme un poema|mucho ruido al lado
coche usado por menos de 5000|algo para regalar|crema solar para bebés|¿es impermeable?
me siento solo|la comida estaba fría|dónde está mi dinero|tarta de cumpleaños
comida para gatos|viaje de fin de semana|bicicleta de niños|vestido de verano
es demasiado caro|cable para el móvil
""",
    ("es", "greeting"): """
holaaa|buenas!|hola 👋|buenos dias|qué tal todo|hola qué hay|muy buenas|ey|holis
buenas tardes a todos|hola bot|cómo va todo|hola hola|buen día|hey qué tal|cómo te va|qué onda
saludos a todos|hola, cómo andas hoy|hola!|holaaaa|buenos días a todos|qué tal estás
hola cómo estás|hey|buenas tardes|hola de nuevo
""",
    ("es", "thanks"): """
graciaaas|mil gracias|muchas gracias por la ayuda|gracias!!|te lo agradezco mucho|muy amable
gracias por todo|perfecto, gracias|ok gracias|me ayudaste mucho|eres muy amable, gracias
gracias por la info|gracias de verdad|muchísimas gracias|genial, gracias|gracias por tu tiempo
se agradece|gracias, eso es todo|grax|gracias!|muchas gracias por todo|gracias por el consejo
mil gracias a todos|muy agradecida|graciass|gracias, funcionó|te agradezco
""",
    ("es", "goodbye"): """
adiós|hasta luego|chao|nos vemos|hasta mañana|buenas noches|cuídate|me voy|bye
que tengas buen día|hasta la próxima|gracias, adiós|chauuu|hasta pronto|nos vemos luego
feliz noche|un abrazo|tengo que irme|hasta otra|adiós!|chao chao|hasta la semana que viene
que descanses|gracias y adiós|nos vemos mañana|me despido|buen fin de semana
""",
    ("es", "spam"): """
¡Felicidades! Has ganado un iPhone, haz clic aquí
Gana dinero desde casa, 3000 euros al mes, regístrate ya
Invierte en bitcoin y duplica tu dinero, escríbeme por whatsapp
Préstamos rápidos sin papeles www.prestamo.example|asdfgh asdfgh
Chicas calientes cerca de ti, entra ya|Oferta solo hoy: 70% de descuento www.ofertas.example
Su cuenta ha sido bloqueada, verifique sus datos en http://banco.example
Casino online, 100 giros gratis|jajsjdhaksjd|Compra seguidores de Instagram baratos
Gana un iPhone, participa ya www.gana.example|Hazte rico con bitcoin, regístrate ahora
Crédito sin papeles en 5 minutos|Su paquete está retenido, pague aquí http://correos.example
fffffffffff|Viagra sin receta barata
""",
    ("es", "bare_reply"): """
sí|no|mañana|el segundo|vale|42|a las 18h|dos personas|no sé|quizás|claro que sí|bueno, vale
el azul|Juan Pérez|tal vez luego|ninguno|por supuesto|creo que no|el lunes|ok entonces|sip|nel
la roja|da lo mismo|de lunes a viernes|tres noches|eso mismo|puede que sí|ya veremos
como quieras|el último|sí por favor|para nada|me da igual|Sí.|ok|el martes|a las tres y media
me da lo mismo|no lo sé|Carlos Ruiz|la semana que viene|mejor no|depende|tres
el primero por favor|los dos|mmm|va bien
""",
    ("fr", "request"): """
chaussures de course taille 42|Une tente pour deux à moins de 150, s'il vous plaît
Nouvelles Chaussures|manteau d'hiver pour enfant|cadeau pour mon père|casque sans fil pas cher
hôtel à Nice avec piscine|ma commande n'est pas arrivée|livrez-vous en Belgique ?
l'appli plante|recette de ratatouille|robe rouge|Sac Noir|billet de train pour Lyon demain
oui mais en bleu|merci, mais ça ne marche pas|une table pour quatre s'il vous plaît
ordinateur pour le montage vidéo|horaires d'ouverture|cafetière à moins de 100 euros
chaussures de randonnée imperméables|une chambre avec vue sur mer svp|Canapé Lit
crème pour peau sèche|vélo pour fille|combien de temps pour la livraison
bonjour, vous avez des chargeurs|téléphone avec un bon appareil photo|chaise de bureau
je veux modifier ma réservation|jean bleu|Lampe de table|chaise de jardin pas chère
soupe sans viande s'il vous plaît|vol pour Athènes|mon compte est bloqué|comment annuler
serviettes svp|c'est quoi la photosynthèse|écris-moi un poème|trop de bruit à côté
voiture d'occasion à moins de 5000|quelque chose à offrir|crème solaire pour bébé
est-ce que c'est étanche|je me sens seul|le repas était froid|où est mon argent
gâteau d'anniversaire|nourriture pour chat|vélo enfant|robe d'été|c'est trop cher
câble pour téléphone
""",
    ("fr", "greeting"): """
bonjouuur|salut !|coucou 👋|bonsoir|ça va ?|hello tout le monde|yo|bonjour à tous
salut ça va toi|cc|bjr|quoi de neuf|salut salut|bonjour bonjour|hey ça roule
comment tu vas aujourd'hui|slt|bonsoir à vous|re|salut|bonjour!|bonjour comment allez-vous
coucou toi|hello|bonsoir tout le monde|saluuut|hey
""",
    ("fr", "thanks"): """
merciii|merci bcp|merci beaucoup pour votre aide|mille mercis|super merci|ok merci
merci pour tout|c'est gentil|je vous remercie|merci c'est parfait|merci pour l'info
un grand merci|merci à toi|parfait merci|merci infiniment|merci de votre patience|trop gentil
génial, merci|mercii bcp|merci!|merci du conseil|merci à tous|je te remercie|merci, ça marche
merci bien|merciiii
""",
    ("fr", "goodbye"): """
au revoir|à plus|à demain|ciao|bonne soirée|bonne nuit|à bientôt|je dois y aller|bye
à la prochaine|merci, au revoir|bonne journée à vous|a+|salut, à plus tard|bon week-end
allez bye|prends soin de toi|à tout à l'heure|tchao|au revoir!|à la semaine prochaine
dors bien|merci et au revoir|à lundi|je m'en vais|bisous
""",
    ("fr", "spam"): """
Félicitations ! Vous avez gagné un iPhone, cliquez ici
Gagnez 3000 euros par mois de chez vous, inscrivez-vous
Investissez dans le bitcoin et doublez votre argent, contactez-moi sur whatsapp
Crédit rapide sans justificatif www.credit.example|azertyuiop
Rencontrez des femmes près de chez vous, cliquez
Offre limitée : -70% sur tout www.promo.example
Votre compte est suspendu, confirmez vos données http://banque.example
Casino en ligne, 100 tours gratuits|qsdfqsdfqsdf|Achetez des abonnés Instagram pas chers
Gagnez un iPhone, participez vite www.gagne.example
Devenez riche avec le bitcoin, inscrivez-vous|Crédit sans justificatif en 5 minutes
Votre colis est bloqué, payez ici http://poste.example|fffffffffff
Viagra sans ordonnance pas cher
""",
    ("fr", "bare_reply"): """
oui|non|demain|le deuxième|d'accord|42|à 18h|deux personnes|je sais pas|peut-être|bien sûr
ok alors|le bleu|Jean Dupont|plus tard peut-être|aucun|lundi|je crois pas|carrément|ça marche
ouais|nan|la rouge|peu importe|du lundi au vendredi|trois nuits|c'est ça|on verra
comme vous voulez|le dernier|oui s'il vous plaît|pas du tout|je pense que oui|vers 9h|Oui.|ok
mardi|à trois heures et demie|ça m'est égal|je ne sais pas|Paul Martin|la semaine prochaine
plutôt non|ça dépend|trois|le premier svp|les deux|hmm|ça va
""",
    ("ja", "request"): """
ランニングシューズ 26センチ|二人用のテントを1万5千円以下でお願いします|新しい靴
子供用の冬のジャケット|父へのプレゼント|ワイヤレスイヤホン 安いもの|温泉付きのホテル
注文が届きません|送料はいくらですか|アプリが動かない|カレーのレシピ|赤いワンピース
黒いリュック|明日の東京行きの新幹線|はい、でも青がいいです|四人でテーブルをお願いします
動画編集用のパソコン|営業時間|防水の登山靴|海が見える部屋をお願いします|ソファベッド
乾燥肌用クリーム|返品したい|配送はどのくらいかかりますか|カメラのいいスマホ|オフィスチェア
予約を変更したい|静かな扇風機|青いジーンズ|テーブルランプ|安い庭の椅子
肉なしのスープをください|アテネ行きの飛行機|アカウントがロックされた|解約の方法
タオルをください|光合成とは何ですか|詩を書いて|隣がうるさい|5000ドル以下の中古車|何か贈り物
赤ちゃん用の日焼け止め|防水ですか|寂しいです|料理が冷たかった|返金はまだですか|誕生日ケーキ
猫の餌|子供用自転車|夏のワンピース|高すぎる|充電ケーブル
""",
    ("ja", "greeting"): """
こんにちは！|おはよー|おはようございます😊|こんばんは|やあ|ハロー|もしもし|お元気ですか
はじめまして|どうも|ちわっす|よろしくお願いします|こんにちはー|おはよ|調子どう|ヤッホー
こんばんわ|お久しぶりです|どうもどうも|こんにちは|おはようございます！|こんばんは。
お元気ですか？|どうもこんにちは|ハロー！|やっほー|初めまして、よろしくお願いします
""",
    ("ja", "thanks"): """
ありがとう！|ありがとー|どうもありがとう|助かりました|ありがとうございました|感謝です
サンキュー|教えてくれてありがとう|はい、ありがとうございます|ありがとね|大変助かりました
あざす|ありがとうございます😊|本当にありがとう|ご丁寧にありがとうございます
了解です、ありがとう|すごく助かった|感謝します|サンクス|ありがとう|ありがとうございます！
本当にありがとうございます|感謝しています|アドバイスありがとう|助かりました、ありがとう
どうもです|ありがとー！
""",
    ("ja", "goodbye"): """
さようなら|バイバイ|またね|じゃあね|おやすみ|おやすみなさい|また明日|失礼します|お疲れ様でした
ではまた|良い一日を|また今度|ばいばーい|じゃあまた|それではまた|さよなら|またあとで
行ってきます|良い週末を|さようなら！|またね！|じゃあ、また明日|おやすみー|お疲れ様です
失礼します。|バイバイ！|また来週
""",
    ("ja", "spam"): """
おめでとうございます！iPhoneが当選しました。こちらをクリック http://x.example
在宅で月収100万円！今すぐ登録|ビットコインで資産を2倍に！LINE追加してください
出会いを探している女性が待っています www.deai.example|即日融資、審査なし www.kashi.example
あああああああああ|本日限り70%オフ！www.sale.example
お客様のアカウントが停止されました。確認はこちら http://bank.example
オンラインカジノで無料スピン100回|フォロワー販売、1000人500円|ｗｗｗｗｗｗｗｗｗ
iPhoneが当たる！今すぐ応募 www.win.example|ビットコインで稼ぐ方法、LINE登録はこちら
即日融資5分 審査なし|荷物をお預かりしています。こちらで支払い http://post.example
ｆｆｆｆｆｆｆｆ|フォロワー購入は格安で
""",
    ("ja", "bare_reply"): """
はい|いいえ|明日|二番目|了解|42|18時|二人です|わからない|たぶん|もちろん|いいよ|青いの
田中太郎|また後で考えます|どれも違う|月曜日|そうです|それでお願いします|うん|うーん|違います
赤いほう|どちらでも|月曜から金曜|三泊|そうだね|最後のやつ|お願いします|全然|たぶんね|9時ごろ
5月3日|はい。|火曜日|三時半|二人|赤いの|どっちでもいい|知らない|山田花子|来週|やめておきます
場合によります|三つ|最初のでお願いします|両方|大丈夫です
""",
    ("ar", "request"): """
حذاء رياضي مقاس 42|خيمة لشخصين بأقل من 150 من فضلك|أحذية جديدة|جاكيت شتوي للأطفال|هدية لأبي
سماعات لاسلكية رخيصة|فندق في دبي مع مسبح|طلبي لم يصل بعد|هل توصلون إلى المغرب؟|التطبيق لا يعمل
وصفة كبسة|فستان أحمر|حقيبة سوداء|تذكرة قطار إلى الرباط غدا|نعم لكن باللون الأزرق
شكرا لكن المقاس خطأ|طاولة لأربعة أشخاص من فضلك|حاسوب للتصميم|كم سعر التوصيل
أريد شراء هاتف جديد|مرحبا، أبحث عن لابتوب|حذاء للمشي مقاوم للماء
غرفة بإطلالة على البحر لو سمحت|كنبة سرير|كريم للبشرة الجافة|دراجة لابنتي|متى يصل الطلب
هاتف بكاميرا جيدة|كرسي مكتب مريح|أريد تعديل الحجز|السلام عليكم، عندي مشكلة في الدفع
أشعر بالملل|ساعدني في اختيار هدية|جينز أزرق|مصباح طاولة|كرسي حديقة رخيص|شوربة بدون لحم من فضلك
رحلة إلى أثينا|حسابي مغلق|كيف ألغي الاشتراك|مناشف من فضلك|ما هو التمثيل الضوئي|اكتب لي قصيدة
ضجيج كثير بجانبنا|سيارة مستعملة بأقل من 5000|شيء للإهداء|واقي شمس للرضع|هل هو مقاوم للماء
أشعر بالوحدة|كان الطعام باردا|أين نقودي|كعكة عيد ميلاد|طعام قطط|دراجة أطفال|فستان صيفي
غالي جدا|كابل شحن
""",
    ("ar", "greeting"): """
مرحبا|أهلا|أهلاً وسهلاً|السلام عليكم|السلام عليكم ورحمة الله وبركاته|صباح الخير|مساء الخير
كيف حالك؟|هلا|هاي|مرحباً 👋|كيفك|مرحبااا|شلونك|أهلا بك|صباح النور|كيف الحال|وعليكم السلام
هلا والله|تحية طيبة|ازيك|مرحبا!|أهلا وسهلا بكم|السلام عليكم جميعا|صباح الخير كيف حالك
مساء النور|هاااي|كيف حالك اليوم؟|أهلين
""",
    ("ar", "thanks"): """
شكرا|شكراً جزيلاً|شكرا لك|مشكور|شكرا على المساعدة|جزاك الله خيرا|ألف شكر|شكرا كثيرا|أشكرك|تسلم
يعطيك العافية|شكرااا|شكرًا لكم|ممتن لك|شكرا على وقتك|شكرا جدا|متشكر|حسنا شكرا|كان مفيدا شكرا
شكرا!|شكرا لكم على كل شيء|شكرا على النصيحة|شكرا جزيلا لكم|جزيل الشكر|شكرا، لقد نجح الأمر
ممنون لك|أشكركم
""",
    ("ar", "goodbye"): """
مع السلامة|وداعا|إلى اللقاء|باي|تصبح على خير|أراك لاحقا|في أمان الله|يومك سعيد|سلام
الى اللقاء غدا|شكرا مع السلامة|باي باي|نهارك سعيد|أراك غداً|استودعك الله|ليلة سعيدة
علي أن أذهب الآن|هذا كل شيء شكرا|وداعا!|أراك الأسبوع القادم|تصبحون على خير|شكرا وإلى اللقاء
مع السلامة يا صديقي|سأذهب الآن|عطلة سعيدة
""",
    ("ar", "spam"): """
مبروك! لقد ربحت آيفون، اضغط هنا http://x.example|اربح 5000 دولار شهريا من المنزل، سجل الآن
استثمر في البيتكوين وضاعف أموالك، تواصل معي على واتساب|قروض فورية بدون كفيل www.loan.example
ههههههههههه|عرض لليوم فقط خصم 70% www.sale.example
تم إيقاف حسابك، أكد بياناتك هنا http://bank.example|كازينو اونلاين 100 لفة مجانية
زيادة متابعين انستغرام بأرخص الأسعار|شسيبشسيبشسيب|اربح آيفون، شارك الآن www.win.example
كن غنيا مع البيتكوين، سجل الآن|قرض بدون كفيل في 5 دقائق
شحنتك معلقة، ادفع الرسوم هنا http://post.example|ففففففففففف|زيادة متابعين بأرخص سعر
""",
    ("ar", "bare_reply"): """
نعم|لا|غدا|الثاني|حسنا|42|الساعة 6|شخصان|لا أعرف|ربما|بالطبع|تمام|الأزرق|محمد علي|لست متأكدا
لا شيء|يوم الاثنين|أعتقد ذلك|ماشي|أيوه|طيب|لا شكرا|٤٢|أكيد|كلا|الأحمر|لا يهم
من الاثنين إلى الجمعة|ثلاث ليال|صحيح|الأخير|نعم من فضلك|ليس الآن|مش عارف|كما تريد|اسمي أحمد
حوالي 9|نعم.|الثلاثاء|الثالثة والنصف|شخصين|الحمراء|لا فرق|لا أعلم|خالد حسن|الأسبوع القادم
الأفضل لا|على حسب|ثلاثة|الأول من فضلك|كلاهما|اممم|ماشي الحال
""",
}
